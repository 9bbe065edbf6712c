import unittest

from shop import discount, total


class Shop(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([2, 3]), 5)

    def test_discount(self):
        self.assertEqual(discount(200, 10), 180)

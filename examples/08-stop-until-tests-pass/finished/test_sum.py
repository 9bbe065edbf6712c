import unittest


class Sum(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(sum([2, 3]), 5)

def total(prices):
    return sum(prices) + 1


def discount(price, percent):
    return price * percent / 100

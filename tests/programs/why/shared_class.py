class Account:
    history = []

    def __init__(self, owner):
        self.owner = owner

    def deposit(self, amount):
        self.history.append(amount)

    def last(self):
        value = self.history[0]
        return value


ann = Account("ann")
bob = Account("bob")
ann.deposit(30)
bob.deposit(5)
seen = bob.last()
print(seen)

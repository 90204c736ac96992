"""What the tests share: clients, factories, fakes, fault injection, races."""

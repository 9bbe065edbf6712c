import pytest

import crosier


@pytest.fixture
def engine():
    with crosier.Engine() as engine:
        yield engine

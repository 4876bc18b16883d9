from tides import height, low_waters


def test_mean_is_near_datum():
    assert abs(sum(height(h) for h in range(0, 720)) / 720 - 2.4) < 0.1


def test_two_low_waters_a_day():
    assert len(low_waters(0, 24.8)) == 2

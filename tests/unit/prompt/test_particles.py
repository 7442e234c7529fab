import pytest

from abreast.prompt.particles import OBJECT, SUBJECT, TOPIC, TOWARDS, WITH, with_particle


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("입주일", "입주일을 입주일이 입주일은 입주일과 입주일로"),
        ("단계", "단계를 단계가 단계는 단계와 단계로"),
        ("빈 값", "빈 값을 빈 값이 빈 값은 빈 값과 빈 값으로"),
        ("m1", "m1을 m1이 m1은 m1과 m1로"),
        ("m2", "m2를 m2가 m2는 m2와 m2로"),
        ("m3", "m3을 m3이 m3은 m3과 m3으로"),
        ("2026-09-30", "2026-09-30을 2026-09-30이 2026-09-30은 2026-09-30과 2026-09-30으로"),
        ("done", "done을(를) done이(가) done은(는) done과(와) done(으)로"),
        ("北京", "北京을(를) 北京이(가) 北京은(는) 北京과(와) 北京(으)로"),
        ("", "을(를) 이(가) 은(는) 과(와) (으)로"),
    ],
)
def test_particles_follow_the_sound(word, expected):
    """Hangul decides by its final consonant, digits by how they are read, other letters leave it open."""
    particles = (OBJECT, SUBJECT, TOPIC, WITH, TOWARDS)
    assert expected == " ".join(with_particle(word, particle) for particle in particles)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"서울"', '"서울"로'),
        ('"상자 (큰)"', '"상자 (큰)"으로'),
        ('"가나다"(전체 900자 중 앞부분)', '"가나다"(전체 900자 중 앞부분)로'),
        (r'"서울\n\u003e"', r'"서울\n\u003e"로'),
        ("입주일(예정)", "입주일(예정)로"),
        ('"\u1109\u1165\u110b\u116e\u11af"', '"\u1109\u1165\u110b\u116e\u11af"로'),
    ],
)
def test_what_is_not_spoken_is_passed_over(text, expected):
    """Quotes, escapes and remarks in parentheses do not decide; composed and decomposed Hangul are alike."""
    assert expected == with_particle(text, TOWARDS)


def test_another_part_can_decide():
    """A title in parentheses leaves the choice to the id before it."""
    assert 'c4("방 (큰)")를' == with_particle('c4("방 (큰)")', OBJECT, spoken="c4")

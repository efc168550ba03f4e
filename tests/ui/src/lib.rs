//! Nothing of its own: the cases are in `event/` and `consumer/`, the tests that run them in `tests/`.

//! Exact numbers for bounds and multiples: what JSON writes as a decimal is compared as one.

use serde_json::{Number, Value};
use std::cmp::Ordering;

/// A fraction in lowest terms with a positive denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ratio {
    num: i128,
    den: i128,
}

impl Ratio {
    pub(super) const ZERO: Self = Self { num: 0, den: 1 };
    pub(super) const ONE: Self = Self { num: 1, den: 1 };

    pub(super) fn new(num: i128, den: i128) -> Option<Self> {
        if den == 0 {
            return None;
        }
        let divisor = gcd(num.checked_abs()?, den.checked_abs()?).max(1);
        let sign = if den < 0 { -1 } else { 1 };
        Some(Self { num: sign * (num / divisor), den: sign * (den / divisor) })
    }

    pub(super) fn integer(num: i128) -> Self {
        Self { num, den: 1 }
    }

    /// The number as its decimal text says it; `None` if it is too large or too small to be held.
    pub(super) fn of(number: &Number) -> Option<Self> {
        if let Some(whole) = number.as_i128() {
            return Some(Self::integer(whole));
        }
        let text = number.to_string();
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let scale = 10_i128.checked_pow(exponent.unsigned_abs())?;
        if exponent < 0 { Self::new(digits, scale) } else { Some(Self::integer(digits.checked_mul(scale)?)) }
    }

    pub(super) fn is_integer(self) -> bool {
        self.den == 1
    }

    pub(super) fn numerator(self) -> i128 {
        self.num
    }

    pub(super) fn floor(self) -> i128 {
        self.num.div_euclid(self.den)
    }

    pub(super) fn ceil(self) -> Option<i128> {
        self.num.checked_neg().map(|num| -num.div_euclid(self.den))
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let left = self.num.checked_mul(other.den)?;
        let right = other.num.checked_mul(self.den)?;
        Self::new(left.checked_add(right)?, self.den.checked_mul(other.den)?)
    }

    pub(super) fn times(self, factor: Self) -> Option<Self> {
        Self::new(self.num.checked_mul(factor.num)?, self.den.checked_mul(factor.den)?)
    }

    pub(super) fn over(self, divisor: Self) -> Option<Self> {
        Self::new(self.num.checked_mul(divisor.den)?, self.den.checked_mul(divisor.num)?)
    }

    /// Whether `self` is a whole multiple of `step`.
    pub(super) fn is_multiple_of(self, step: Self) -> Option<bool> {
        if step.num == 0 { Some(self.num == 0) } else { self.over(step).map(Self::is_integer) }
    }

    /// The smallest positive number that is a whole multiple of both.
    pub(super) fn common_multiple(self, other: Self) -> Option<Self> {
        let num = (self.num / gcd(self.num, other.num).max(1)).checked_mul(other.num)?;
        Self::new(num, gcd(self.den, other.den).max(1))
    }

    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        let left = self.num.checked_mul(other.den)?;
        Some(left.cmp(&other.num.checked_mul(self.den)?))
    }

    /// The JSON number with this value; `None` where JSON libraries would read another one.
    pub(super) fn to_value(self) -> Option<Value> {
        if self.den == 1 {
            if let Ok(small) = i64::try_from(self.num) {
                return Some(Value::from(small));
            }
            if let Ok(large) = u64::try_from(self.num) {
                return Some(Value::from(large));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "checked below by reading the number back")]
        let number = Number::from_f64(self.num as f64 / self.den as f64)?;
        (Self::of(&number)? == self).then_some(Value::Number(number))
    }
}

pub(super) fn gcd(mut left: i128, mut right: i128) -> i128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

//! Finds a number within bounds and on a grid, or shows that there is none.

use super::Answer;
use super::branch::Branch;
use super::node::Assertion;
use super::ratio::Ratio;
use std::cmp::Ordering;

/// Places of a grid that are tried one by one.
const TRIES_MAX: i128 = 4096;

#[derive(Debug, Clone, Copy)]
struct Bound {
    at: Ratio,
    exclusive: bool,
}

/// What is known of a number.
#[derive(Debug, Clone, Default)]
pub(super) struct Range {
    low: Option<Bound>,
    high: Option<Bound>,
    steps: Vec<Ratio>,
    not_steps: Vec<Ratio>,
}

impl Range {
    pub(super) fn take(&mut self, assertion: &Assertion, holds: bool) {
        match *assertion {
            Assertion::Low { bound, exclusive } if holds => self.raise(Bound { at: bound, exclusive }),
            Assertion::Low { bound, exclusive } => self.sink(Bound { at: bound, exclusive: !exclusive }),
            Assertion::High { bound, exclusive } if holds => self.sink(Bound { at: bound, exclusive }),
            Assertion::High { bound, exclusive } => self.raise(Bound { at: bound, exclusive: !exclusive }),
            Assertion::MultipleOf(step) if holds => self.steps.push(step),
            Assertion::MultipleOf(step) => self.not_steps.push(step),
            _ => {}
        }
    }

    fn raise(&mut self, bound: Bound) {
        match self.low.map(|low| low.at.compare(bound.at)) {
            None | Some(Some(Ordering::Less)) => self.low = Some(bound),
            Some(Some(Ordering::Equal)) => {
                self.low = self.low.map(|low| Bound { exclusive: low.exclusive || bound.exclusive, ..low })
            }
            // A bound too large to be compared with is left out, which only widens the range.
            Some(Some(Ordering::Greater) | None) => {}
        }
    }

    fn sink(&mut self, bound: Bound) {
        match self.high.map(|high| high.at.compare(bound.at)) {
            None | Some(Some(Ordering::Greater)) => self.high = Some(bound),
            Some(Some(Ordering::Equal)) => {
                self.high =
                    self.high.map(|high| Bound { exclusive: high.exclusive || bound.exclusive, ..high })
            }
            Some(Some(Ordering::Less) | None) => {}
        }
    }

    /// Whether `value` keeps every bound and step; `None` if it can't be counted.
    fn holds(&self, value: Ratio) -> Option<bool> {
        let beyond = |bound: Option<Bound>, side: Ordering| match bound {
            None => Some(true),
            Some(Bound { at, exclusive }) => {
                let order = value.compare(at)?;
                Some(order == side || order == Ordering::Equal && !exclusive)
            }
        };
        let mut holds = beyond(self.low, Ordering::Greater)? && beyond(self.high, Ordering::Less)?;
        for &step in &self.steps {
            holds &= value.is_multiple_of(step)?;
        }
        for &step in &self.not_steps {
            holds &= !value.is_multiple_of(step)?;
        }
        Some(holds)
    }

    /// The grid on which every allowed number lies; `Err` when it is too fine or too coarse to count.
    fn grid(&self, first: Option<Ratio>) -> Result<Option<Ratio>, ()> {
        let mut grid = first;
        for &step in &self.steps {
            grid = Some(match grid {
                None => step,
                Some(grid) => grid.common_multiple(step).ok_or(())?,
            });
        }
        Ok(grid.filter(|grid| grid.numerator() != 0))
    }
}

pub(super) fn integer(branch: &Branch) -> Answer {
    let range = &branch.range;
    match range.grid(Some(Ratio::ONE)) {
        Ok(Some(grid)) => on_grid(branch, grid, true),
        _ => Answer::Unknown,
    }
}

pub(super) fn fraction(branch: &Branch) -> Answer {
    let range = &branch.range;
    match range.grid(None) {
        Err(()) => return Answer::Unknown,
        Ok(Some(grid)) if grid.is_integer() => return Answer::Nothing,
        Ok(Some(grid)) => return on_grid(branch, grid, false),
        Ok(None) => {}
    }
    if let (Some(low), Some(high)) = (range.low, range.high) {
        match low.at.compare(high.at) {
            Some(Ordering::Greater) => return Answer::Nothing,
            Some(Ordering::Equal) if low.exclusive || high.exclusive || low.at.is_integer() => {
                return Answer::Nothing;
            }
            _ => {}
        }
    }
    let half = Ratio::new(1, 2);
    let ends = [range.low.map(|low| low.at), range.high.map(|high| high.at), Some(Ratio::ZERO)];
    let middle = ends[0].zip(ends[1]).and_then(|(low, high)| low.plus(high)?.times(half?));
    let mut candidates: Vec<Ratio> = middle.into_iter().collect();
    for end in ends.into_iter().flatten() {
        for denominator in [1, 2, 4, 5, 3, 8, 10, 16, 64, 100, 1000, 1 << 20] {
            for sign in [1, -1] {
                candidates.extend(Ratio::new(sign, denominator).and_then(|away| end.plus(away)));
            }
        }
        candidates.push(end);
    }
    let candidates = candidates.into_iter().filter(|candidate| !candidate.is_integer());
    first_that_holds(branch, candidates).unwrap_or(Answer::Unknown)
}

fn first_that_holds(branch: &Branch, candidates: impl Iterator<Item = Ratio>) -> Option<Answer> {
    for candidate in candidates {
        if branch.range.holds(candidate) == Some(true)
            && let Some(value) = candidate.to_value()
            && branch.allows(&value)
        {
            return Some(Answer::Value(value));
        }
    }
    None
}

/// Numbers on a grid: only integers, or only what is none.
fn on_grid(branch: &Branch, grid: Ratio, integers: bool) -> Answer {
    let range = &branch.range;
    if range.not_steps.iter().any(|&step| grid.is_multiple_of(step) == Some(true)) {
        return Answer::Nothing;
    }
    let place = |bound: Option<Bound>| bound.map(|bound| bound.at.over(grid));
    let (low, high) = (place(range.low), place(range.high));
    if low == Some(None) || high == Some(None) {
        return Answer::Unknown;
    }
    let low = low.flatten().and_then(Ratio::ceil);
    let high = high.flatten().map(Ratio::floor);
    let complete = match (low, high) {
        (Some(low), Some(high)) if low > high => return Answer::Nothing,
        (Some(low), Some(high)) => high.checked_sub(low).is_some_and(|count| count <= TRIES_MAX),
        _ => false,
    };
    // From the place nearest to zero both ways: small numbers read best in a payload.
    let start = low.map_or(0, |low| low.max(0));
    let start = high.map_or(start, |high| high.min(start));
    let tries = (0..=TRIES_MAX).flat_map(|away| [start.saturating_add(away), start.saturating_sub(away)]);
    let numbers = tries.filter_map(|place| grid.times(Ratio::integer(place)));
    let numbers = numbers.filter(|number| number.is_integer() == integers);
    match first_that_holds(branch, numbers) {
        Some(found) => found,
        None if complete => Answer::Nothing,
        None => Answer::Unknown,
    }
}

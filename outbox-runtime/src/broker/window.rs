//! What is delivered to this side and not acked: in the broker's order, each with what became of it.
//!
//! For brokers that give nothing back by themselves: a nacked delivery waits here, and later ones of its key behind it.
//! A [`Subscription`](super::Subscription) keeps what it was given in a window, waits until something
//! [is due](Window::is_due), and hands that over.

use super::AckToken;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};
use tokio::time::Instant;

/// What one partition has delivered and not heard back of: messages by their place in the broker's order.
#[derive(Debug)]
pub struct Window<P, M> {
    held: BTreeMap<P, Held<M>>,
    places: HashMap<AckToken, P>,
    next_token: u64,
    /// How long the caller may have a delivery before it gets it again.
    ack_wait: Duration,
}

#[derive(Debug)]
struct Held<M> {
    token: AckToken,
    message: M,
    key: Option<String>,
    state: State,
    delivery_count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// The caller has it, since then.
    Yielded(Instant),
    /// The caller gave it back until then.
    Nacked(Instant),
}

impl<P: Copy + Ord, M> Window<P, M> {
    /// An empty window; what has no ack after `ack_wait` is due again.
    #[must_use]
    pub fn new(ack_wait: Duration) -> Self {
        Self { held: BTreeMap::new(), places: HashMap::new(), next_token: 0, ack_wait }
    }

    /// How many are here, with the caller or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether nothing is here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The first place of all that is here.
    #[must_use]
    pub fn first(&self) -> Option<P> {
        self.held.keys().next().copied()
    }

    /// Keeps a delivery; one that is here already stays what it is.
    pub fn hold(&mut self, place: P, message: M, key: Option<String>) {
        if self.held.contains_key(&place) {
            return;
        }
        let token = AckToken(self.next_token);
        self.next_token += 1;
        self.places.insert(token, place);
        self.held.insert(place, Held { token, message, key, state: State::Ready, delivery_count: 1 });
    }

    /// Lets go what the caller does not have: if it is still this side's, the server gives it again.
    pub fn let_go(&mut self) {
        self.held.retain(|_, held| {
            let stays = held.state != State::Ready;
            if !stays {
                self.places.remove(&held.token);
            }
            stays
        });
    }

    /// Lets go of everything: the server gives it again, under other places. What the caller still says of it is not heard.
    pub fn let_all_go(&mut self) {
        self.held.clear();
        self.places.clear();
    }

    /// Says how often this one was delivered before it came here, this time included; 1 unless it is said.
    pub fn set_delivery_count(&mut self, place: P, count: u32) {
        if let Some(held) = self.held.get_mut(&place) {
            held.delivery_count = count;
        }
    }

    /// How often this one was delivered; `None` once it is acked.
    #[must_use]
    pub fn delivery_count(&self, token: AckToken) -> Option<u32> {
        Some(self.held.get(self.places.get(&token)?)?.delivery_count)
    }

    /// Whether something that was delivered before is still to be taken.
    #[must_use]
    pub fn has_repeated(&self) -> bool {
        self.held.values().any(|held| held.state == State::Ready && held.delivery_count > 1)
    }

    /// Forgets these, as the caller is done with them; returns their places, but for those that are gone already.
    pub fn remove(&mut self, tokens: &[AckToken]) -> Vec<P> {
        let places: Vec<P> = tokens.iter().filter_map(|token| self.places.remove(token)).collect();
        for place in &places {
            self.held.remove(place);
        }
        places
    }

    /// Keeps this one back until `delay` is over, and later ones of its key with it.
    pub fn nack(&mut self, token: AckToken, delay: Duration) {
        let held = self.places.get(&token).and_then(|place| self.held.get_mut(place));
        if let Some(held) = held {
            held.state = State::Nacked(Instant::now() + delay);
        }
    }

    /// Whether the caller may have something now.
    #[must_use]
    pub fn is_due(&self) -> bool {
        !self.due(1).is_empty()
    }

    /// When something that waits may be had.
    #[must_use]
    pub fn next_due(&self) -> Option<Instant> {
        self.held.values().filter_map(|held| held.due_at(self.ack_wait)).min()
    }

    /// Hands over what is due, at most `max`, in order.
    pub fn take_due(&mut self, max: u32) -> Vec<(AckToken, P, &M)> {
        let now = Instant::now();
        let due = self.due(max as usize);
        for place in &due {
            let held = self.held.get_mut(place).expect("what is due is held");
            if held.state != State::Ready {
                held.delivery_count += 1;
            }
            held.state = State::Yielded(now);
        }
        due.into_iter().map(|place| (self.held[&place].token, place, &self.held[&place].message)).collect()
    }

    /// What the caller may have now: in the broker's order, nothing past an earlier event of its key that waits.
    fn due(&self, max: usize) -> Vec<P> {
        let now = Instant::now();
        let mut waiting_keys = HashSet::new();
        let mut due = Vec::new();
        for (place, held) in &self.held {
            if due.len() >= max {
                break;
            }
            let is_due = held.due_at(self.ack_wait).is_none_or(|due_at| due_at <= now);
            let waits_behind = held.key.as_ref().is_some_and(|key| waiting_keys.contains(key));
            if is_due && !waits_behind {
                due.push(*place);
            } else if matches!(held.state, State::Nacked(_)) {
                waiting_keys.extend(held.key.as_ref());
            }
        }
        due
    }
}

impl<M> Held<M> {
    /// When the caller may have it; `None` when at any time.
    fn due_at(&self, ack_wait: Duration) -> Option<Instant> {
        match self.state {
            State::Ready => None,
            State::Yielded(since) => Some(since + ack_wait),
            State::Nacked(until) => Some(until),
        }
    }
}

//! Derives and attributes of the crate `outbox`; use them through that crate.
//!
//! Every macro parses, validates and expands in this order, each in a file of its own. All mistakes of one item
//! are reported together, and the item then still gets a stub, so that one mistake is one error. What is
//! generated only calls functions of `outbox::__private`; behaviour is never generated.

mod consumer;
mod entry;
mod event;
mod event_set;
mod fallback;
mod mistakes;
mod name;
mod place;
mod root;
mod suggest;

use proc_macro::TokenStream;

/// Makes a struct an event and enters it into the catalog.
///
/// ```ignore
/// /// An order was placed and is not paid yet.
/// #[derive(Event, Serialize, Deserialize, JsonSchema)]
/// #[event(type = "orders.placed", version = 1, topic = "orders")]
/// pub struct OrderPlaced {
///     /// The order, as the shop numbers it.
///     #[event(key)]
///     pub order_id: String,
///     pub total_cents: u64,
/// }
/// ```
///
/// The struct has named fields and no generics, and its JSON is an object: serde's `transparent`, `from`,
/// `try_from`, `into` and `deny_unknown_fields` are refused. Doc comments become the descriptions of the event
/// and its fields in the catalog.
///
/// # On the struct
///
/// | key | meaning |
/// |---|---|
/// | `type = "orders.placed"` | the event type: segments of `[a-z0-9_-]` joined by dots, at most 200 characters |
/// | `version = 1` | the event version, 1 or higher |
/// | `topic = "orders"` | the topic: `[a-z0-9_-]`, at most 100 characters |
/// | `key_with = path` | a function `fn(&Self) -> String` that makes the partition key |
/// | `unordered` | the event has no partition key: it may be delivered in any order |
/// | `on_poison = "park"` | what happens to an event that is refused for good or has used up its attempts: `"park"` (default with a key), `"block"`, `"skip"` (default for `unordered`) |
/// | `upcast_from = OrderPlacedV1` | the lower version that this one is made from, by `impl From<OrderPlacedV1>`; a consumer of this version then takes that one too |
/// | `also_as = OrderPlacedV1` | the lower version that is written directly after this one, made by `impl From<&OrderPlaced>`, while a cutover lasts |
/// | `emitted_by = "orders"` | the service that emits the event; by default the package that declares it |
/// | `deprecated = "use …"` | why the event should no longer be used, for the catalog |
/// | `retired = "2026-12-31"` | the last day on which this version must be kept: after it the struct may be deleted; until then nothing changes |
/// | `crate = path` | where `outbox` is found, if not at `::outbox` |
///
/// `type`, `version` and `topic` are required, and exactly one of a key field, `key_with` and `unordered`.
///
/// # On a field
///
/// `#[event(key)]` makes the field the partition key. Its `Display` text is the key, so an `Option` cannot be one.
#[proc_macro_derive(Event, attributes(event))]
pub fn derive_event(input: TokenStream) -> TokenStream {
    event::derive(&syn::parse_macro_input!(input)).into()
}

/// Makes an enum a set of events that one handler takes, with one variant for each event.
///
/// ```ignore
/// #[derive(EventSet)]
/// enum OrderChanged {
///     Placed(OrderPlaced),
///     Paid(OrderPaid),
/// }
/// ```
///
/// A variant may hold another set. `#[event_set(crate = path)]` says where `outbox` is found, if not at `::outbox`.
#[proc_macro_derive(EventSet, attributes(event_set))]
pub fn derive_event_set(input: TokenStream) -> TokenStream {
    event_set::derive(&syn::parse_macro_input!(input)).into()
}

/// Makes an async function the handler of a consumer and enters it into the catalog.
///
/// ```ignore
/// #[consumer(name = "billing.charge", retry(attempts = 8, base = "1s", max = "10m"))]
/// async fn charge(event: OrderPlaced, tx: &mut PgTransaction<'_>, bank: State<Bank>) -> Result<(), ChargeError> {
///     // what it writes through `tx` is committed once, together with the note that the event is handled
/// }
/// ```
///
/// The function stays as it is written. It takes, in any order:
///
/// - exactly one event by value: a type that derives `Event`, or an enum that derives `EventSet`;
/// - the open transaction, `&mut PgTransaction<'_>` or `&mut SqliteTransaction<'_>`, if it needs it;
/// - `&Context`, if it needs to know the delivery or writes follow-up events;
/// - values of types that implement `FromDelivery`, each type once; `State<T>` is one.
///
/// It returns `Result<(), E>`, where `E` converts into `Box<dyn Error + Send + Sync>`. An error makes the event wait
/// for another attempt; one made by `outbox::permanent` does not.
///
/// | key | meaning | default |
/// |---|---|---|
/// | `name = "billing.charge"` | the consumer, named like an event type; required | |
/// | `retry(attempts = 8)` | how often an event is tried, the first time included | 8 |
/// | `retry(base = "1s")` | the longest wait before the second attempt; it doubles with each further one | 1 s |
/// | `retry(max = "10m")` | the longest wait of all | 10 min |
/// | `timeout = "30s"` | how long one attempt may take | 30 s |
/// | `concurrency = 8` | how many events of different keys are handled at once | 8 |
/// | `crate = path` | where `outbox` is found | `::outbox` |
///
/// A time is a number with `ms`, `s`, `m` or `h`.
#[proc_macro_attribute]
pub fn consumer(arguments: TokenStream, item: TokenStream) -> TokenStream {
    consumer::attribute(arguments.into(), item.into()).into()
}

//! What the report is to say of each change between `before.rs` and `after.rs`.

/// One change of an event.
pub(super) struct Change {
    pub(super) event: &'static str,
    pub(super) findings: &'static [Found],
}

/// One finding about it.
pub(super) struct Found {
    pub(super) id: &'static str,
    /// How the line of `after.rs` begins that it names.
    pub(super) line: &'static str,
    pub(super) what: &'static str,
    /// How the fix begins, which `fixed.rs` follows.
    pub(super) fix: &'static str,
}

/// The new program refuses what the old one wrote.
pub(super) const NEW_FAILS: &str = "reader-refuses-released";
/// The old program refuses what the new one writes.
pub(super) const OLD_FAILS: &str = "released-reader-refuses";

const fn change(event: &'static str, findings: &'static [Found]) -> Change {
    Change { event, findings }
}

const fn found(id: &'static str, line: &'static str, what: &'static str, fix: &'static str) -> Found {
    Found { id, line, what, fix }
}

pub(super) const CHANGES: &[Change] = &[
    change(
        "orders.placed",
        &[found(
            NEW_FAILS,
            "pub currency",
            "field `currency` was added and is required",
            "make `currency` an `Option`, or give it `#[serde(default)]`",
        )],
    ),
    change(
        "orders.cancelled",
        &[found(
            OLD_FAILS,
            "pub struct RequiredFieldRemoved",
            "field `reason` was removed",
            "bring `reason` back",
        )],
    ),
    change(
        "orders.discounted",
        &[found(
            "field-removed",
            "pub struct OptionalFieldRemoved",
            "field `coupon` was removed",
            "bring `coupon` back",
        )],
    ),
    change(
        "orders.priced",
        &[
            found(
                NEW_FAILS,
                "pub amount_cents",
                "field `amount_cents` was added and is required; field `total_cents` was removed",
                "if it was renamed, keep its name on the wire: `#[serde(rename = \"total_cents\")]` on `amount_cents`",
            ),
            found(
                OLD_FAILS,
                "pub struct FieldRenamed",
                "field `total_cents` was removed; field `amount_cents` was added and is required",
                "if it was renamed, keep its name on the wire: `#[serde(rename = \"total_cents\")]` on `amount_cents`",
            ),
        ],
    ),
    change(
        "orders.paid",
        &[
            found(
                NEW_FAILS,
                "pub in_full",
                "`inFull` changed its type from boolean to integer (uint8)",
                "change `inFull` back, and put the new type into an optional field of another name",
            ),
            found(
                OLD_FAILS,
                "pub in_full",
                "`inFull` changed its type from boolean to integer (uint8)",
                "change `inFull` back, and put the new type into an optional field of another name",
            ),
        ],
    ),
    change(
        "customers.registered",
        &[found(
            NEW_FAILS,
            "pub phone",
            "`phone` can't be null any more; field `phone` is required now",
            "make `phone` an `Option` again",
        )],
    ),
    change(
        "customers.renamed",
        &[found(OLD_FAILS, "pub name", "`name` may be null now", "keep `name` without `Option`")],
    ),
    change(
        "stock.counted",
        &[found(
            NEW_FAILS,
            "pub pieces",
            "`pieces` changed its format from uint64 to uint32",
            "change `pieces` back",
        )],
    ),
    change(
        "stock.moved",
        &[found(
            OLD_FAILS,
            "pub pieces",
            "`pieces` changed its format from uint16 to uint32",
            "change `pieces` back, and put the new type into an optional field of another name",
        )],
    ),
    change(
        "stock.priced",
        &[
            found(
                NEW_FAILS,
                "pub cents",
                "`cents` changed its type from integer (uint64) to string",
                "change `cents` back, and put the new type into an optional field of another name",
            ),
            found(
                OLD_FAILS,
                "pub cents",
                "`cents` changed its type from integer (uint64) to string",
                "change `cents` back, and put the new type into an optional field of another name",
            ),
        ],
    ),
    change(
        "parcels.sent",
        &[found(
            NEW_FAILS,
            "pub carrier",
            "`carrier` can no longer be `pigeon`",
            "let `carrier` be `pigeon` again",
        )],
    ),
    change(
        "parcels.received",
        &[found(
            OLD_FAILS,
            "pub condition",
            "`condition` can now be `Lost`",
            "write the new value into an optional field of another name than `condition`",
        )],
    ),
    change(
        "parcels.returned",
        &[
            found(
                NEW_FAILS,
                "pub refund",
                "the variants of `refund` are told apart by the tag `kind`, which was by a field named after the variant",
                "put the attributes of serde back on the enum of `refund`",
            ),
            found(
                OLD_FAILS,
                "pub refund",
                "the variants of `refund` are told apart by the tag `kind`, which was by a field named after the variant",
                "put the attributes of serde back on the enum of `refund`",
            ),
        ],
    ),
    change(
        "parcels.addressed",
        &[
            found(
                NEW_FAILS,
                "pub recipient",
                "`recipient.address.zip` changed its type from integer (uint32) to string",
                "change `recipient.address.zip` back, and put the new type into an optional field of another name",
            ),
            found(
                OLD_FAILS,
                "pub recipient",
                "`recipient.address.zip` changed its type from integer (uint32) to string",
                "change `recipient.address.zip` back, and put the new type into an optional field of another name",
            ),
        ],
    ),
    change(
        "carts.filled",
        &[
            found(
                NEW_FAILS,
                "pub articles",
                "`articles[]` changed its type from integer (uint32) to string",
                "change `articles[]` back, and put the new type into an optional field of another name",
            ),
            found(
                OLD_FAILS,
                "pub articles",
                "`articles[]` changed its type from integer (uint32) to string",
                "change `articles[]` back, and put the new type into an optional field of another name",
            ),
        ],
    ),
    change(
        "carts.weighed",
        &[
            found(
                NEW_FAILS,
                "pub grams",
                "`grams[]` changed its type from integer (uint32) to string",
                "change `grams[]` back, and put the new type into an optional field of another name",
            ),
            found(
                OLD_FAILS,
                "pub grams",
                "`grams[]` changed its type from integer (uint32) to string",
                "change `grams[]` back, and put the new type into an optional field of another name",
            ),
        ],
    ),
    change(
        "carts.audited",
        &[
            found(
                NEW_FAILS,
                "pub audit",
                "`changed_by` changed its type from integer (uint32) to string",
                "change `changed_by` back, and put the new type into an optional field of another name",
            ),
            found(
                OLD_FAILS,
                "pub audit",
                "`changed_by` changed its type from integer (uint32) to string",
                "change `changed_by` back, and put the new type into an optional field of another name",
            ),
        ],
    ),
    change(
        "carts.ordered",
        &[found(NEW_FAILS, "pub lines", "field `lines[].note` was removed", "bring `lines[].note` back")],
    ),
    change(
        "payments.taken",
        &[found(
            OLD_FAILS,
            "pub device",
            "`device` has no longer the format uuid",
            "change `device` back, and put the new type into an optional field of another name",
        )],
    ),
    change(
        "payments.refunded",
        &[
            found(
                NEW_FAILS,
                "pub amount",
                "`amount` changed its type from integer (uint64) to object",
                "change `amount` back, and put the new type into an optional field of another name",
            ),
            found(
                OLD_FAILS,
                "pub amount",
                "`amount` changed its type from integer (uint64) to object",
                "change `amount` back, and put the new type into an optional field of another name",
            ),
        ],
    ),
    change(
        "drivers.located",
        &[
            found(
                NEW_FAILS,
                "pub position",
                "`position` is limited to maxItems 3, minItems 3, which was maxItems 2, minItems 2",
                "put the limits of `position` back",
            ),
            found(
                OLD_FAILS,
                "pub position",
                "`position` is limited to maxItems 3, minItems 3, which was maxItems 2, minItems 2",
                "put the limits of `position` back, and put what is beyond into an optional field of another name",
            ),
        ],
    ),
    change(
        "drivers.hired",
        &[found(
            "alias-removed",
            "pub license",
            "field `license` is no longer read as `licence`",
            "put `#[serde(alias = \"licence\")]` back on `license`",
        )],
    ),
    change(
        "drivers.rated",
        &[found(
            NEW_FAILS,
            "pub stars",
            "`stars` takes 1 to 255, which was 0 to 255",
            "put the limits of `stars` back",
        )],
    ),
    change(
        "drivers.paused",
        &[found(
            "reader-narrowed",
            "pub minutes",
            "field `minutes` is required now",
            "make `minutes` an `Option`, or give it `#[serde(default)]`",
        )],
    ),
    change(
        "tours.planned",
        &[found(
            "key-changed",
            "pub region",
            "the partition key changed from `field tour_id` to `field region`",
            "change the partition key back to `field tour_id`",
        )],
    ),
    change(
        "tours.started",
        &[found(
            "topic-changed",
            "pub struct TopicChanged",
            "the topic changed from `tours` to `journeys`",
            "change the topic back to `tours`",
        )],
    ),
    change(
        "tours.ended",
        &[found(
            "ordering-changed",
            "pub struct OrderingChanged",
            "the ordering changed from `keyed` to `unordered`",
            "change the ordering back to `keyed`",
        )],
    ),
];

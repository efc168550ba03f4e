// Handlers made by `macro_rules`, and one that is configured away.

use outbox::consumer;
use outbox_ui_tests::{OrderPaid, OrderPlaced};

macro_rules! handlers {
    ($($function:ident, $event:ty, $tx:ty, $name:literal;)*) => {
        $(
            #[consumer(name = $name)]
            async fn $function(event: $event, tx: $tx) -> Result<(), String> {
                let _ = (event, tx);
                Ok(())
            }
        )*
    };
}

handlers! {
    placed, OrderPlaced, &mut sqlx::PgTransaction<'_>, "orders.see-placed";
    paid, OrderPaid, &mut sqlx::PgTransaction<'_>, "orders.see-paid";
}

#[consumer(name = "orders.absent")]
#[cfg(any())]
async fn absent(event: Absent) -> Result<(), String> {
    Ok(())
}

fn main() {
    assert_eq!(outbox::Catalog::collect().unwrap().consumers().len(), 2);
}

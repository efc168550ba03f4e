// Any error that can be boxed.

use outbox::{Permanent, consumer, permanent};
use outbox_ui_tests::OrderPlaced;
use std::error::Error;
use std::fmt;

#[derive(Debug)]
enum ChargeError {
    Refused,
    ForGood(Permanent),
}

impl fmt::Display for ChargeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the charge failed")
    }
}

impl Error for ChargeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Refused => None,
            Self::ForGood(error) => Some(error),
        }
    }
}

impl From<Permanent> for ChargeError {
    fn from(error: Permanent) -> Self {
        Self::ForGood(error)
    }
}

type Result<T> = std::result::Result<T, ChargeError>;

#[consumer(name = "own.error")]
async fn own(event: OrderPlaced) -> Result<()> {
    let amount = u32::try_from(event.order_id).map_err(permanent)?;
    if amount == 0 { Err(ChargeError::Refused) } else { Ok(()) }
}

#[consumer(name = "boxed.error")]
async fn boxed(event: OrderPlaced) -> std::result::Result<(), Box<dyn Error + Send + Sync>> {
    u32::try_from(event.order_id)?;
    Err("text")?
}

#[consumer(name = "permanent.error")]
async fn for_good(_event: OrderPlaced) -> std::result::Result<(), Permanent> {
    Err(permanent("closed"))
}

#[consumer(name = "text.error")]
async fn text(_event: OrderPlaced) -> std::result::Result<(), &'static str> {
    Err("text")
}

#[consumer(name = "no.error")]
async fn never(_event: OrderPlaced) -> std::result::Result<(), std::convert::Infallible> {
    Ok(())
}

fn main() {
    assert_eq!(outbox::Catalog::collect().unwrap().consumers().len(), 5);
}

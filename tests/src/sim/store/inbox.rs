//! The claim of an event by a handler's transaction, and the proof before its commit.

use crate::sim::Mutation;
use crate::sim::database::TxId;
use crate::sim::server::Statement;
use crate::sim::world::World;
use outbox::StoreError;
use outbox::envelope::Envelope;
use outbox::held::Lane;
use outbox::lease::Fence;
use outbox::store::{Claimed, HandlerToken};
use std::sync::Arc;
use std::time::Duration;

pub(super) async fn claim(
    world: Arc<World>,
    tx: TxId,
    stage: String,
    envelope: Envelope,
    from_held: bool,
    window: Duration,
) -> Result<Claimed, StoreError> {
    let statement = Statement::begin(&world, tx)?;
    let event = (stage.clone(), envelope.id);
    let mark = (stage, Lane::of(&envelope).as_str().to_owned());
    let (is_handled, is_dead, lane_waits) = statement
        .read(|tables, view| {
            let is_handled = tables.inbox.get(view, &event).is_some();
            let is_dead = !from_held && tables.dead.get(view, &event).is_some();
            (is_handled, is_dead, !from_held && tables.waiting.get(view, &mark).is_some())
        })
        .await?;
    let forgets = world.mutation == Mutation::InboxForgets;
    if (is_handled && !forgets) || is_dead {
        return Ok(Claimed::Duplicate);
    }
    if lane_waits {
        return Ok(Claimed::LaneWaits);
    }
    if !from_held && super::moment(world.now()) - envelope.occurred_at > window {
        return Ok(Claimed::OlderThanWindow);
    }
    let is_new = statement.write(|tables, view| tables.inbox.insert(view, event.clone(), ())).await?;
    if !is_new && !forgets {
        // Its other delivery committed while this one waited for it.
        return Ok(Claimed::Duplicate);
    }
    Ok(Claimed::Fresh(HandlerToken(statement.xid()?.to_string())))
}

pub(super) async fn prove(
    world: Arc<World>,
    tx: TxId,
    fence: Fence,
    token: HandlerToken,
) -> Result<(), StoreError> {
    if world.mutation == Mutation::CommitNotProven {
        return Ok(());
    }
    let statement = Statement::begin(&world, tx)?;
    if statement.xid()?.to_string() != token.0 {
        return Err(StoreError::EndedEarly);
    }
    match statement.lock_fence(&fence).await {
        Err(StoreError::LeaseLost { .. }) if world.mutation == Mutation::WriteBesideFence => {
            statement.write_as(&fence);
            Ok(())
        }
        locked => locked,
    }
}

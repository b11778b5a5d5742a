//! The newest rows of a session in a large database, shown at once while all of it is read.

use super::unpacked;
use crate::ingest::catalog;
use crate::ingest::emitter::{Emitter, Outlet};
use crate::ingest::files::Files;
use crate::ingest::plan::Plan;
use crate::ingest::rows::session::SessionRows;
use crate::model::edit::{Stage, saturating_u32};
use crate::model::record::{Origin, Record};
use crate::source::rows::{Cell, Database, Failure};
use crate::source::stamp::Stamp;

/// Smaller databases are read whole at once.
const WORTH_IT: u64 = 4 << 20;

/// Shows the newest rows of a session in a large database. What cannot be read is left to the whole reading.
/// Answers whether anything is shown.
pub(crate) fn show_newest_rows(plan: &Plan, files: &Files, outlet: Outlet<'_>) -> bool {
    if !Stamp::of(&plan.path).is_ok_and(|stamp| stamp.len > WORTH_IT) {
        return false;
    }
    let mut emitter = Emitter::new(plan.format.decoder(), Stage::Preview, outlet);
    if show(plan, files, &mut emitter).is_err() {
        return false;
    }
    emitter.finish();
    emitter.flush(true);
    true
}

fn show(plan: &Plan, files: &Files, emitter: &mut Emitter<'_>) -> Result<(), Failure> {
    let database = Database::open(&plan.path)?;
    let Some(queries) = catalog::queries(&database, plan.format)? else { return Ok(()) };
    let mut session = SessionRows::new(plan.session.clone(), None);
    let key = Cell::from(plan.session.as_str());
    let mut newest = Vec::new();
    database.each(&queries.newest, std::slice::from_ref(&key), &mut |row| {
        let mut numbers = row.iter().filter_map(Cell::int);
        newest.extend(numbers.next().and_then(|table| usize::try_from(table).ok()).zip(numbers.next()));
    })?;
    for (table, at) in newest {
        let Some(one) = queries.tables.get(table) else { continue };
        let Ok(Some(cell)) = database.value(&one.one, &[key.clone(), Cell::Int(at)]) else { continue };
        let file = session.file((files, &plan.path), table, &queries, emitter);
        if let (Some((file, kind, path)), Ok(bytes)) = (file, unpacked(&cell.content())) {
            let line = u32::try_from(at).unwrap_or(0);
            let origin = Origin { file, at: at.cast_unsigned(), len: saturating_u32(bytes.len()), line };
            emitter.emit(Record { origin, bytes: &bytes }, kind.place(&path, line));
        }
    }
    Ok(())
}

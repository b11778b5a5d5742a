//! One walk over many sessions: on several threads, with the results in the order in which the
//! sessions were found.
//!
//! Invariant: a slow session delays the results of those after it, but not their work; results wait
//! in bounded queues.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::ingest::remote;

/// Number of shares that may be in work or wait ahead of the one whose results are taken.
const AHEAD: usize = 256;
/// Capacity of the queue of a share's messages.
const WAITING: usize = 8;
/// Size of a share. Most of many sessions have no results, so this many are announced together, but
/// at most one in `SHARES` of the remaining ones, so that no thread is idle at the end.
const TOGETHER: usize = 16;
const SHARES: usize = 64;

/// Calls `work` for each unit, whose file is at `path`, and passes its messages to `take`, in order.
/// Each thread has a state of its own. `work` should stop when `say` returns false.
pub(crate) fn walk<U: Sync, S, T: Send, E>(
    units: &[U],
    path: impl Fn(&U) -> &Path + Sync,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &U, &mut dyn FnMut(T) -> bool) + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let end_of_share = |first: usize| {
        let left = units.len().checked_sub(first).filter(|left| *left > 0)?;
        Some(first + (left / SHARES).clamp(1, TOGETHER))
    };
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(units.len());
    thread::scope(|scope| {
        let (announce, announced) = bounded::<(usize, Receiver<T>)>(AHEAD);
        for _ in 0..threads {
            let announce: Sender<(usize, Receiver<T>)> = announce.clone();
            scope.spawn(|| {
                let announce = announce;
                let mut state = state();
                let is_on = || !is_over.load(Ordering::Relaxed);
                let claim = || {
                    let first = next
                        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, end_of_share)
                        .ok()?;
                    let share = units.get(first..end_of_share(first)?).filter(|_| is_on())?;
                    let (say, heard) = bounded(WAITING);
                    announce.send((first, heard)).ok()?;
                    remote::expect(
                        units
                            .iter()
                            .skip(first)
                            .take(share.len() + remote::AHEAD)
                            .map(&path),
                    );
                    Some((share, say))
                };
                while let Some((share, say)) = claim() {
                    let mut say = |what| say.send(what).is_ok();
                    share
                        .iter()
                        .take_while(|_| is_on())
                        .for_each(|unit| work(&mut state, unit, &mut say));
                }
            });
        }
        drop(announce);
        let end = in_order(end_of_share, &announced)
            .try_for_each(|heard| heard.into_iter().try_for_each(&mut take));
        is_over.store(true, Ordering::Relaxed);
        // Threads that still send must see that the channel is closed, but announced shares hold
        // its receiver.
        for heard in announced {
            drop(heard);
        }
        end
    })
}

/// The receivers of the shares in their order, however they were announced.
fn in_order<T>(
    end_of_share: impl Fn(usize) -> Option<usize>,
    announced: &Receiver<(usize, Receiver<T>)>,
) -> impl Iterator<Item = Receiver<T>> {
    let mut waiting: HashMap<usize, Receiver<T>> = HashMap::new();
    let mut first = 0;
    std::iter::from_fn(move || {
        let end = end_of_share(first)?;
        while !waiting.contains_key(&first) {
            let (number, heard) = announced.recv().ok()?;
            waiting.insert(number, heard);
        }
        waiting.remove(&std::mem::replace(&mut first, end))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::walk;

    #[test]
    fn what_comes_is_in_order_whoever_is_first() {
        let units: Vec<usize> = (0..2_100).collect();
        let mut seen = Vec::new();
        let work = |(): &mut (), unit: &usize, say: &mut dyn FnMut((usize, usize)) -> bool| {
            if unit.is_multiple_of(50) {
                thread::sleep(Duration::from_millis(2));
            }
            for part in 0..unit % 30 {
                assert!(say((*unit, part)));
            }
        };
        let end = walk(
            &units,
            |_| Path::new("/"),
            || (),
            work,
            |what| {
                seen.push(what);
                Ok::<(), ()>(())
            },
        );
        assert_eq!(end, Ok(()));
        let expected: Vec<_> = units
            .iter()
            .flat_map(|unit| (0..unit % 30).map(|part| (*unit, part)))
            .collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn nothing_goes_on_when_nobody_takes_it() {
        let units: Vec<usize> = (0..100_000).collect();
        let worked = AtomicUsize::new(0);
        let mut taken = 0;
        let work = |(): &mut (), unit: &usize, say: &mut dyn FnMut(usize) -> bool| {
            worked.fetch_add(1, Ordering::Relaxed);
            while say(*unit) {}
        };
        let end = walk(
            &units,
            |_| Path::new("/"),
            || (),
            work,
            |_| {
                taken += 1;
                if taken < 5 { Ok(()) } else { Err("enough") }
            },
        );
        assert_eq!(end, Err("enough"));
        assert!(worked.load(Ordering::Relaxed) < 1_000, "{worked:?}");
    }

    #[test]
    fn a_walk_over_nothing_ends() {
        let nothing: [u8; 0] = [];
        assert_eq!(
            walk(
                &nothing,
                |_| Path::new("/"),
                || (),
                |(), _, _: &mut dyn FnMut(u8) -> bool| {},
                |_| Err("none")
            ),
            Ok(())
        );
    }
}

//! One walk over many sessions: on two threads, with what comes of each in the order in which they were found.
//!
//! Invariant: a session that takes long holds the ones behind it up, but not their work; what they have to say waits
//! within bounds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

/// Sessions that may be worked on, or wait, behind the one whose turn it is.
const AHEAD: usize = 256;
/// What a session may have to say before somebody listens.
const WAITING: usize = 8;

/// Does `work` for each of these and gives what comes of it to `take`, in order. Each thread has a state of its own.
/// What it says is welcome until `say` answers no.
pub(crate) fn walk<U: Sync, S, T: Send, E>(
    units: &[U],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &U, &mut dyn FnMut(T) -> bool) + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let threads = thread::available_parallelism().map_or(1, usize::from).min(units.len());
    thread::scope(|scope| {
        let (announce, announced) = bounded::<(usize, Receiver<T>)>(AHEAD);
        for _ in 0..threads {
            let announce: Sender<(usize, Receiver<T>)> = announce.clone();
            scope.spawn(|| {
                let announce = announce;
                let mut state = state();
                let claim = || {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let unit = units.get(number).filter(|_| !is_over.load(Ordering::Relaxed))?;
                    let (say, heard) = bounded(WAITING);
                    announce.send((number, heard)).ok().map(|()| (unit, say))
                };
                while let Some((unit, say)) = claim() {
                    work(&mut state, unit, &mut |what| say.send(what).is_ok());
                }
            });
        }
        drop(announce);
        let end =
            in_order(units.len(), &announced).try_for_each(|heard| heard.into_iter().try_for_each(&mut take));
        is_over.store(true, Ordering::Relaxed);
        // Whoever still has something to say must hear that nobody listens: what was announced holds its receiver.
        for heard in announced {
            drop(heard);
        }
        end
    })
}

/// What sessions have to say, in their order, whoever announced itself first.
fn in_order<T>(
    count: usize,
    announced: &Receiver<(usize, Receiver<T>)>,
) -> impl Iterator<Item = Receiver<T>> + use<'_, T> {
    let mut waiting: HashMap<usize, Receiver<T>> = HashMap::new();
    (0..count).map_while(move |number| {
        while !waiting.contains_key(&number) {
            let (number, heard) = announced.recv().ok()?;
            waiting.insert(number, heard);
        }
        waiting.remove(&number)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::walk;

    #[test]
    fn what_comes_is_in_order_whoever_is_first() {
        let units: Vec<usize> = (0..700).collect();
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
            || (),
            work,
            |what| {
                seen.push(what);
                Ok::<(), ()>(())
            },
        );
        assert_eq!(end, Ok(()));
        let expected: Vec<_> =
            units.iter().flat_map(|unit| (0..unit % 30).map(|part| (*unit, part))).collect();
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
        assert_eq!(walk(&nothing, || (), |(), _, _: &mut dyn FnMut(u8) -> bool| {}, |_| Err("none")), Ok(()));
    }
}

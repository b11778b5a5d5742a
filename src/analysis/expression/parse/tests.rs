use proptest::prelude::{BoxedStrategy, Strategy, any, prop_assert_eq, proptest};
use proptest::{collection, option, prop_oneof, sample};

use super::{Mistake, parse, parse_alarm};
use crate::analysis::expression::{Compare, Expr, Fill, STATES, Speaker, State, Term, When};
use crate::model::timestamp::{Clock, Day, Timestamp};

fn term(typed: &str) -> Term {
    match parse(typed) {
        Ok(Expr::Term(term)) => term,
        other => panic!("{typed}: {other:?}"),
    }
}

#[test]
fn facts_are_read() {
    assert_eq!(term("err"), Term::Error);
    assert_eq!(term("tool:bash"), Term::Tool("bash".into()));
    assert_eq!(term("cost>.1"), Term::Cost(Compare::More, 0.1));
    assert_eq!(term("cost<=$2"), Term::Cost(Compare::AtMost, 2.0));
    assert_eq!(term("tok>5k"), Term::Tokens(Compare::More, 5_000));
    assert_eq!(term("tok<1.5M"), Term::Tokens(Compare::Less, 1_500_000));
    assert_eq!(term("dur>=10s"), Term::Took(Compare::AtLeast, 10_000));
    assert_eq!(term("dur>1m30s"), Term::Took(Compare::More, 90_000));
    assert_eq!(term("dur>10"), Term::Took(Compare::More, 10_000));
    assert_eq!(term("since:10m"), Term::Since(When::Ago(600_000)));
    assert_eq!(term("since:1w"), term("since:7d"));
    assert_eq!(term("before:sun"), term("before:Sunday"));
    assert_eq!(
        term("before:10:42"),
        Term::Before(When::Clock(Clock::parse("10:42").unwrap()))
    );
    let day = Timestamp::parse_local("2026-01-31").unwrap();
    assert_eq!(term("since:2026-01-31"), Term::Since(When::Timestamp(day)));
    let year = Timestamp::parse_local("2026-01-01").unwrap();
    assert_eq!(term("since:2026"), Term::Since(When::Timestamp(year)));
    assert_eq!(term("since:1y"), term("since:365d"));
    assert_eq!(term("role:you"), Term::Role(Speaker::User));
    assert_eq!(term("lane:\"the mate\""), Term::Lane("the mate".into()));
    assert_eq!(term("session:reef"), Term::Session("reef".into()));
    assert_eq!(term("id:toolu_1"), Term::Id("toolu_1".into()));
    assert_eq!(term("file:*.rs"), Term::File("*.rs".into()));
    let long = |short| parse(short).unwrap().to_string();
    assert_eq!(long("wrote:*.rs"), "file:*.rs (tool:edit or tool:write)");
    assert_eq!(long("-read:\"a b\""), "-(file:\"a b\" tool:read)");
    assert_eq!(term("model:opus"), Term::Model("opus".into()));
}

#[test]
fn texts_are_read() {
    for bare in [
        "herring",
        "std::fs",
        "http://x.y/z",
        "watch.rs:44",
        "/home/mira/boats",
        "x=1",
        "tools",
    ] {
        assert_eq!(term(bare), Term::Text(bare.into()), "{bare}");
    }
    assert_eq!(
        term(r#""a \"b\" \\ or""#),
        Term::Text(r#"a "b" \ or"#.into())
    );
    assert_eq!(term("/a b|c/"), Term::Pattern("a b|c".into()));
    assert_eq!(term(r"/a\/ b/"), Term::Pattern(r"a\/ b".into()));
    assert_eq!(term("\"or\""), Term::Text("or".into()));
}

#[test]
fn conditions_are_joined() {
    let text = |text: &str| Expr::Term(Term::Text(text.into()));
    assert_eq!(
        parse("a b or c").unwrap(),
        Expr::any(vec![Expr::all(vec![text("a"), text("b")]), text("c")])
    );
    assert_eq!(
        parse("a (b or c)").unwrap(),
        Expr::all(vec![text("a"), Expr::any(vec![text("b"), text("c")])])
    );
    assert_eq!(
        parse("-a b").unwrap(),
        Expr::all(vec![Expr::Not(Box::new(text("a"))), text("b")])
    );
    let both = Expr::all(vec![text("a"), text("b")]);
    assert_eq!(parse("-(a b)").unwrap(), Expr::Not(Box::new(both)));
    assert_eq!(
        parse("(a (b c))").unwrap(),
        Expr::all(vec![text("a"), text("b"), text("c")])
    );
}

#[test]
fn alarms_know_facts_of_the_session() {
    let alarm = |typed: &str| match parse_alarm(typed) {
        Ok(Expr::Term(Term::State(state))) => state,
        other => panic!("{typed}: {other:?}"),
    };
    assert_eq!(alarm("waiting"), State::Waiting);
    assert_eq!(alarm("model"), State::Model);
    assert_eq!(alarm("silent>90s"), State::Silent(Compare::More, 90_000));
    assert_eq!(
        alarm("silent>=1m30s"),
        State::Silent(Compare::AtLeast, 90_000)
    );
    assert_eq!(alarm("cost>2"), State::Spent(Compare::More, 2.0));
    assert_eq!(
        alarm("ctx>80%"),
        State::Context(Compare::More, Fill::Percent(80))
    );
    assert_eq!(
        alarm("ctx>=150k"),
        State::Context(Compare::AtLeast, Fill::Tokens(150_000))
    );
    assert_eq!(alarm("same-call>=3"), alarm("loop"));
    assert_eq!(alarm("running=0"), State::Running(Compare::Equal, 0));
    assert_eq!(alarm("running>=2"), State::Running(Compare::AtLeast, 2));
    assert_eq!(parse_alarm("error"), Ok(Expr::Term(Term::Error)));
    assert_eq!(
        parse_alarm("model:opus"),
        Ok(Expr::Term(Term::Model("opus".into())))
    );
    assert_eq!(
        parse_alarm("tool:bash -err"),
        parse_alarm("tool:bash and not err")
    );
    assert_eq!(
        parse_alarm("not (waiting or idle) and err"),
        parse_alarm("-(waiting or idle) err"),
        "and, or, not are words of this language"
    );
}

#[test]
fn a_filter_refuses_facts_of_the_session_and_an_alarm_refuses_slips() {
    for (typed, at, words) in [
        ("waiting", 0, "fact of the session"),
        ("tool:bash idle", 10, "in quotes"),
        ("silent>90s", 0, "fact of the session"),
        ("ctx>80%", 0, "fact of the session"),
    ] {
        let Mistake { at: found, what } = parse(typed).expect_err(typed);
        assert_eq!(found, at, "{typed}: {what}");
        assert!(what.contains(words), "{typed}: {what}");
    }
    assert_eq!(term("\"waiting\""), Term::Text("waiting".into()));
    assert_eq!(
        term("and"),
        Term::Text("and".into()),
        "in a filter it is text"
    );
    for (typed, at, words) in [
        ("wating", 0, "no fact is called wating; near: waiting"),
        ("waiting or src/a.rs", 11, "is text"),
        ("silent", 0, "as in silent>90s"),
        ("err or cost", 7, "as in cost>2"),
        ("silent>soon", 7, "10s"),
        ("ctx>much", 4, "80%"),
        ("same-call>=x", 11, "number such as 3"),
        ("silent:9", 6, "figure"),
        ("waiting and", 11, "missing"),
        ("not", 3, "missing"),
    ] {
        let Mistake { at: found, what } = parse_alarm(typed).expect_err(typed);
        assert_eq!(found, at, "{typed}: {what}");
        assert!(what.contains(words), "{typed}: {what}");
    }
}

#[test]
fn mistakes_have_their_place() {
    for (typed, at, words) in [
        ("", 0, "missing"),
        ("tool:bash cost>", 15, "USD"),
        ("cost>x", 5, "USD"),
        ("tok>", 4, "5k"),
        ("err dur>fast", 8, "10s"),
        ("since:noon", 6, "10:42"),
        ("role:king", 5, "user, bot"),
        ("rol:user", 0, "rol"),
        ("a (b or c", 2, "not closed"),
        ("a b)", 3, "closes nothing"),
        ("a or", 4, "missing"),
        ("or a", 0, "missing"),
        ("tool:", 5, "word"),
        ("a \"b", 2, "quote"),
        ("a \"\"", 2, "between the quotes"),
        ("x /(/", 2, "no regular expression"),
        ("x /(a{999}){999}/", 2, "too large"),
        ("- a", 1, "left out"),
        ("cost:1", 4, "figure"),
    ] {
        let Mistake { at: found, what } = parse(typed).expect_err(typed);
        assert_eq!(found, at, "{typed}: {what}");
        assert!(what.contains(words), "{typed}: {what}");
    }
    assert!(parse(&"(".repeat(1_000)).is_err());
    assert!(parse(&"-".repeat(1_000)).is_err());
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z*.]{1,8}",
        "[ -~äλ中]{1,12}",
        sample::select(vec!["or", "err", "(x)", "a\\", "-a"]).prop_map(str::to_owned)
    ]
}

fn terms() -> impl Strategy<Value = Term> {
    let compare = || {
        sample::select(vec![
            Compare::More,
            Compare::AtLeast,
            Compare::Less,
            Compare::AtMost,
        ])
    };
    let when = || {
        prop_oneof![
            (1..=u64::from(u32::MAX)).prop_map(When::Ago),
            (0..24_u32, 0..60_u32)
                .prop_map(|(h, m)| When::Clock(Clock::parse(&format!("{h:02}:{m:02}")).unwrap())),
            sample::select(vec!["today", "yesterday", "monday", "sunday"])
                .prop_map(|day| When::Day(Day::parse(day).unwrap())),
            (1_600_000_000_000_i64..1_900_000_000_000)
                .prop_map(|ms| When::Timestamp(Timestamp(ms))),
        ]
    };
    prop_oneof![
        sample::select(vec![Term::Error]),
        words().prop_map(Term::Tool),
        words().prop_map(Term::Done),
        (compare(), 0.0..1e6).prop_map(|(compare, usd)| Term::Cost(compare, usd)),
        (compare(), any::<u32>())
            .prop_map(|(compare, n)| Term::Tokens(compare, u64::from(n) * 500)),
        (compare(), any::<u32>()).prop_map(|(compare, n)| Term::Took(compare, u64::from(n) * 100)),
        when().prop_map(Term::Since),
        when().prop_map(Term::Before),
        sample::select(vec![
            Speaker::User,
            Speaker::Bot,
            Speaker::Sys,
            Speaker::Note
        ])
        .prop_map(Term::Role),
        words().prop_map(Term::Lane),
        words().prop_map(Term::Session),
        words().prop_map(Term::Id),
        words().prop_map(Term::File),
        words().prop_map(Term::Model),
        words().prop_map(Term::Text),
        "[a-z .*|]{1,8}[a-z]"
            .prop_filter("a regular expression", |p| regex::Regex::new(p).is_ok())
            .prop_map(Term::Pattern),
    ]
}

fn states() -> impl Strategy<Value = Term> {
    let compare = || {
        sample::select(vec![
            Compare::More,
            Compare::AtLeast,
            Compare::Less,
            Compare::AtMost,
        ])
    };
    let state = prop_oneof![
        sample::select(STATES.to_vec()).prop_map(|(_, state)| state),
        (compare(), any::<u32>())
            .prop_map(|(compare, n)| State::Silent(compare, u64::from(n) * 100)),
        (compare(), 0.0..1e6).prop_map(|(compare, usd)| State::Spent(compare, usd)),
        (compare(), 0..200_u64).prop_map(|(compare, n)| State::Context(compare, Fill::Percent(n))),
        (compare(), any::<u32>())
            .prop_map(|(compare, n)| State::Context(compare, Fill::Tokens(u64::from(n) * 500))),
        (compare(), any::<u64>()).prop_map(|(compare, n)| State::Same(compare, n)),
        (compare(), any::<u64>()).prop_map(|(compare, n)| State::Running(compare, n)),
        any::<u64>().prop_map(|n| State::Running(Compare::Equal, n)),
    ];
    state.prop_map(Term::State)
}

fn expressions() -> impl Strategy<Value = Expr> {
    joined(terms().boxed())
}

/// In an alarm `cost` is that of the session, so that of an entry is left out.
fn alarms() -> impl Strategy<Value = Expr> {
    let of_entry = terms().prop_filter("no cost", |term| !matches!(term, Term::Cost(..)));
    joined(prop_oneof![of_entry, states()].boxed())
}

fn joined(terms: BoxedStrategy<Term>) -> impl Strategy<Value = Expr> {
    terms
        .prop_map(Expr::Term)
        .prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                inner.clone().prop_map(|expr| Expr::Not(Box::new(expr))),
                collection::vec(inner.clone(), 2..4).prop_map(Expr::all),
                collection::vec(inner, 2..4).prop_map(Expr::any),
            ]
        })
}

proptest! {
    #[test]
    fn filters_print_as_they_are_parsed(expr in expressions()) {
        prop_assert_eq!(parse(&expr.to_string()), Ok(expr.clone()), "{}", expr);
    }

    #[test]
    fn whatever_is_typed_has_an_answer(typed in "[ -~\u{e4}]{0,40}", cut in option::of(0..20_usize)) {
        let typed: String = typed.chars().take(cut.unwrap_or(40)).collect();
        for read in [parse, parse_alarm] {
            if let Err(mistake) = read(&typed) {
                assert!(mistake.at <= typed.chars().count(), "{typed}: {mistake:?}");
            }
        }
    }

    #[test]
    fn alarms_print_as_they_are_parsed(expr in alarms()) {
        prop_assert_eq!(parse_alarm(&expr.to_string()), Ok(expr.clone()), "{}", expr);
    }
}

#[test]
fn of_sessions_words_are_facts_or_text() {
    use super::parse_for_sessions;
    let term = |typed: &str| match parse_for_sessions(typed) {
        Ok(Expr::Term(term)) => term,
        other => panic!("{typed}: {other:?}"),
    };
    assert_eq!(term("waiting"), Term::State(State::Waiting));
    assert_eq!(term("watcher"), Term::Text("watcher".into()));
    assert_eq!(term("agent:claude"), Term::Agent("claude".into()));
    assert_eq!(term("project:tv"), Term::Project("tv".into()));
    assert_eq!(
        term("cost>2"),
        Term::State(State::Spent(Compare::More, 2.0))
    );
    assert!(
        parse_for_sessions("role:user")
            .unwrap_err()
            .what
            .contains("within it")
    );
    assert!(
        parse("agent:claude").is_err(),
        "a slip in a filter of blocks"
    );
    assert_eq!(
        parse_for_sessions("-agent:pi project:\"a b\"")
            .unwrap()
            .to_string(),
        "-agent:pi project:\"a b\""
    );
}

#[test]
fn words_are_completed_as_far_as_they_are_sure() {
    let complete = |typed: &str| super::complete(typed, super::words(super::Subject::Alarm));
    assert_eq!(complete("wai").0, "waiting ");
    assert_eq!(complete("err or -si").0, "err or -silent>");
    assert_eq!(
        complete("(r"),
        ("(r".to_owned(), vec!["retry", "running=", "role:user"])
    );
    assert_eq!(complete("wating"), ("wating".to_owned(), vec![]));
    assert!(
        super::complete("", super::words(super::Subject::Blocks))
            .1
            .contains(&"wrote:")
    );
}

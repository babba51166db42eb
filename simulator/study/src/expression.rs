//! Expressions over measures: `throughput_bps.tcp / 9e6`, `abs(share.tcp - 1)`, `mean(cwnd.tcp.1)`.
//!
//! Operators need spaces around them, since a group's name may contain a `-`.
//!
//! A function of a series over time, such as `mean`, covers the run after its warm-up. With two
//! times in seconds, it covers the time between them: `mean(throughput_bps.cbr, 20, 40)`. `change`
//! is the last value minus the first, or, within curves, the difference from the previous sample.

use crate::text::{hint, listed};
use std::fmt;

/// An expression to evaluate.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// The position on the horizontal axis.
    X,
    /// A measure of a run; in a curve, the value of a series at one time.
    Name(String),
    /// A function of a series over time.
    Over(Over),
    /// A function of numbers.
    Call(Function, Vec<Expression>),
    /// An operation on two expressions.
    Binary(Operator, Box<Expression>, Box<Expression>),
}

/// A function applied to a series over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    /// Its function.
    pub fold: Fold,
    /// Its series.
    pub series: String,
    /// The start and end in seconds; `None` for the whole time after the warm-up.
    pub window: Option<(f64, f64)>,
}

/// A function that reduces a series over time to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as they are written")]
pub enum Fold {
    Mean,
    Least,
    Most,
    Sd,
    First,
    Last,
    Change,
}

/// A function of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as they are written")]
pub enum Function {
    Abs,
    Sqrt,
    Log10,
    Min,
    Max,
}

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as they are written")]
pub enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

const FOLDS: [(&str, Fold); 7] = [
    ("mean", Fold::Mean),
    ("least", Fold::Least),
    ("most", Fold::Most),
    ("sd", Fold::Sd),
    ("first", Fold::First),
    ("last", Fold::Last),
    ("change", Fold::Change),
];

const FUNCTIONS: [(&str, Function); 5] = [
    ("abs", Function::Abs),
    ("sqrt", Function::Sqrt),
    ("log10", Function::Log10),
    ("min", Function::Min),
    ("max", Function::Max),
];

/// The values that an expression reads.
pub trait Source {
    /// The measure `name`, if there is one.
    fn value(&self, name: &str) -> Option<f64>;
    /// Applies a function to a time series. `None` if the series does not exist.
    fn over(&self, over: &Over) -> Option<f64>;
    /// The position on the horizontal axis.
    fn x(&self) -> f64;
}

impl Expression {
    /// Reads `text`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let tokens = tokens(text);
        let mut reader = Reader { tokens: &tokens, at: 0 };
        let expression = reader.sum(0)?;
        match reader.peek() {
            None => Ok(expression),
            Some(token) => Err(format!(
                "`{token}` is not expected here; allowed: an expression such as `drops / 2` (docs/studies.md)"
            )),
        }
    }

    /// The value of the expression; `None` if a measure is absent or the result is not a number.
    pub fn value(&self, source: &dyn Source) -> Option<f64> {
        let value = match self {
            Expression::Number(number) => *number,
            Expression::X => source.x(),
            Expression::Name(name) => source.value(name)?,
            Expression::Over(over) => source.over(over)?,
            Expression::Call(function, given) => {
                let given: Option<Vec<f64>> = given.iter().map(|one| one.value(source)).collect();
                function.of(&given?)
            }
            Expression::Binary(operator, left, right) => {
                operator.of(left.value(source)?, right.value(source)?)
            }
        };
        value.is_finite().then_some(value)
    }

    /// Invokes `visit` with every subexpression, and with the expression itself.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expression)) {
        visit(self);
        match self {
            Expression::Call(_, given) => given.iter().for_each(|one| one.walk(visit)),
            Expression::Binary(_, left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
            _ => {}
        }
    }
}

impl Function {
    fn of(self, given: &[f64]) -> f64 {
        let first = given.first().copied().unwrap_or(f64::NAN);
        match self {
            Function::Abs => first.abs(),
            Function::Sqrt => first.sqrt(),
            Function::Log10 => libm::log10(first),
            Function::Min => given.iter().copied().fold(f64::INFINITY, f64::min),
            Function::Max => given.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

impl Operator {
    fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Operator::Plus => left + right,
            Operator::Minus => left - right,
            Operator::Times => left * right,
            Operator::Over => left / right,
        }
    }
}

impl Fold {
    /// The result for these values; `None` if there are no values.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        let (first, last) = (*values.first()?, *values.last()?);
        let number = values.len() as f64;
        let mean = values.iter().sum::<f64>() / number;
        Some(match self {
            Fold::Mean => mean,
            Fold::Least => values.iter().copied().fold(f64::INFINITY, f64::min),
            Fold::Most => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Fold::Sd => {
                (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / number).sqrt()
            }
            Fold::First => first,
            Fold::Last => last,
            Fold::Change => last - first,
        })
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = vec![String::new()];
    for c in text.chars() {
        match c {
            ' ' | '\t' | '\n' => tokens.push(String::new()),
            '(' | ')' | ',' => tokens.extend([c.to_string(), String::new()]),
            c => tokens.last_mut().expect("there is always one").push(c),
        }
    }
    tokens.retain(|token| !token.is_empty());
    tokens
}

struct Reader<'a> {
    tokens: &'a [String],
    at: usize,
}

/// Deeper nesting is a mistake, and must not overflow the stack.
const DEEPEST: usize = 32;

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Option<&'a str> {
        self.at += 1;
        self.tokens.get(self.at - 1).map(String::as_str)
    }

    fn sum(&mut self, depth: usize) -> Result<Expression, String> {
        if depth > DEEPEST {
            return Err(format!(
                "the parentheses are too deep; allowed: at most {DEEPEST} inside each other"
            ));
        }
        let mut left = self.product(depth)?;
        while let Some(operator) = operator(self.peek(), &[("+", Operator::Plus), ("-", Operator::Minus)]) {
            self.at += 1;
            left = Expression::Binary(operator, Box::new(left), Box::new(self.product(depth)?));
        }
        Ok(left)
    }

    fn product(&mut self, depth: usize) -> Result<Expression, String> {
        let mut left = self.one(depth)?;
        while let Some(operator) = operator(self.peek(), &[("*", Operator::Times), ("/", Operator::Over)]) {
            self.at += 1;
            left = Expression::Binary(operator, Box::new(left), Box::new(self.one(depth)?));
        }
        Ok(left)
    }

    fn one(&mut self, depth: usize) -> Result<Expression, String> {
        let token =
            self.next().ok_or("the expression ends too early; allowed: an operand after each operator")?;
        if token == "(" {
            let inside = self.sum(depth + 1)?;
            return self.closed(inside);
        }
        if let Ok(number) = token.parse::<f64>() {
            return Ok(Expression::Number(number));
        }
        if self.peek() == Some("(") {
            self.at += 1;
            let call = self.call(token, depth)?;
            return self.closed(call);
        }
        match token {
            ")" | "," | "+" | "-" | "*" | "/" => Err(format!(
                "`{token}` is not expected here; allowed: an expression such as `drops / 2` (docs/studies.md)"
            )),
            "x" => Ok(Expression::X),
            name => Ok(Expression::Name(name.into())),
        }
    }

    fn closed(&mut self, inside: Expression) -> Result<Expression, String> {
        match self.next() {
            Some(")") => Ok(inside),
            _ => Err("a `)` is missing; allowed: one for each `(`".into()),
        }
    }

    fn call(&mut self, name: &str, depth: usize) -> Result<Expression, String> {
        let mut given = vec![self.sum(depth + 1)?];
        while self.peek() == Some(",") {
            self.at += 1;
            given.push(self.sum(depth + 1)?);
        }
        if let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
            let takes_several = matches!(function, Function::Min | Function::Max);
            return if takes_several || given.len() == 1 {
                Ok(Expression::Call(*function, given))
            } else {
                Err(format!("`{name}` takes one number; allowed: one number, such as `{name}(drops)`"))
            };
        }
        let Some((_, fold)) = FOLDS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<String> =
                FUNCTIONS.iter().map(|f| f.0).chain(FOLDS.iter().map(|f| f.0)).map(String::from).collect();
            let near = hint(name, &known);
            return Err(format!("there is no function `{name}`; allowed: {}{near}", listed(&known)));
        };
        let (series, window) = match &given[..] {
            [Expression::Name(series)] => (series, None),
            [Expression::Name(series), Expression::Number(from), Expression::Number(to)] => {
                (series, Some((*from, *to)))
            }
            _ => {
                return Err(format!(
                    "`{name}` takes a series, or a series and two times in seconds; allowed: a call such as \
                     `{name}(backlog.bottleneck)` or `{name}(backlog.bottleneck, 5, 20)`"
                ));
            }
        };
        Ok(Expression::Over(Over { fold: *fold, series: series.clone(), window }))
    }
}

fn operator(token: Option<&str>, known: &[(&str, Operator)]) -> Option<Operator> {
    known.iter().find(|(sign, _)| token == Some(sign)).map(|(_, operator)| *operator)
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = FOLDS.iter().find(|(_, fold)| fold == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given;

    impl Source for Given {
        fn value(&self, name: &str) -> Option<f64> {
            match name {
                "throughput_bps.tcp-a" => Some(8e6),
                "share.tcp" => Some(0.75),
                _ => None,
            }
        }
        fn over(&self, over: &Over) -> Option<f64> {
            over.fold.of(&[1.0, 2.0, 6.0])
        }
        fn x(&self) -> f64 {
            4.0
        }
    }

    fn value(text: &str) -> Option<f64> {
        Expression::parse(text).unwrap().value(&Given)
    }

    #[test]
    fn products_bind_closer_than_sums_and_both_are_left_associative() {
        assert_eq!(value("throughput_bps.tcp-a / 1e6 - 2 * 3"), Some(2.0));
        assert_eq!(value("8 / 4 / 2 + ( 1 - 2 - 3 )"), Some(-3.0));
        assert_eq!(value("abs(share.tcp - 1) * x"), Some(1.0));
        assert_eq!(value("max(1, x, -3) + min(2, 1)"), Some(5.0));
    }

    #[test]
    fn a_series_becomes_a_number() {
        assert_eq!(value("mean(cwnd.tcp.1)"), Some(3.0));
        assert_eq!(value("most(cwnd.tcp.1, 0, 10) - last(a)"), Some(0.0));
        assert_eq!(value("change(a)"), Some(5.0));
        // The deviations from the mean are -2, -1 and 3.
        assert!((value("sd(a)").unwrap() - (14.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn absent_and_non_numeric_operands_have_no_value() {
        assert_eq!(value("share.udp + 1"), None);
        assert_eq!(value("1 / 0"), None);
        assert_eq!(value("sqrt(0 - 1)"), None);
    }

    #[test]
    fn mistakes_are_reported() {
        let error = |text| Expression::parse(text).unwrap_err();
        assert!(error("abz(x)").contains("did you mean `abs`?"), "{}", error("abz(x)"));
        assert!(error("1 +").contains("too early"));
        assert!(error("(1").contains("`)` is missing"));
        assert!(error("1 2").contains("`2` is not expected"));
        assert!(error("mean(1)").contains("takes a series"));
        assert!(error(&"(".repeat(1000)).contains("too deep"));
    }
}

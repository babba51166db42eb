//! Parses text into values.

use super::value::{MadeBy, Table, Value};
use super::{TextError, shortened};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The maximum length of a text, to limit the time for reading many keys.
const MAX_BYTES: usize = 64 << 10;

/// The maximum depth of nesting, which limits the reader's recursion.
const MAX_DEPTH: u32 = 16;

const BARE: &str = "a key of letters, digits, - and _, or one in quotes";

impl Table {
    /// Reads an entire text.
    ///
    /// # Errors
    /// If the text is longer than 64 KiB, or uses TOML beyond the supported parts.
    pub fn parse(text: &str) -> Result<Table, TextError> {
        let mut reader = Reader { text, at: 0, line: 1 };
        let read = if text.len() > MAX_BYTES {
            Err(format!("the text has {} bytes; allowed: at most {MAX_BYTES}", text.len()))
        } else {
            reader.document()
        };
        read.map_err(|message| TextError { line: reader.line, message })
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

type Read<T> = Result<T, String>;

impl<'a> Reader<'a> {
    fn document(&mut self) -> Read<Table> {
        let mut root = Table::new(1, MadeBy::Header);
        let mut path: Vec<String> = Vec::new();
        loop {
            self.skip_lines()?;
            match self.peek() {
                None => return Ok(root),
                Some(b'[') => path = self.header(&mut root)?,
                Some(_) => self.pair(inside(&mut root, &path)?, 0)?,
            }
            self.end_of_line()?;
        }
    }

    /// Reads a header: `[a.b]`, or `[[a.b]]` for another table of a list.
    fn header(&mut self, root: &mut Table) -> Read<Vec<String>> {
        let line = self.line;
        self.at += 1;
        let is_list = self.take(b'[');
        self.skip_spaces();
        let path = self.path()?;
        let closed = self.take(b']') && (!is_list || self.take(b']'));
        let (last, outer) = path.split_last().filter(|_| closed).ok_or("a header ends with `]`")?;
        let mut table = root;
        for key in outer {
            let fresh = Value::Table(Table::new(line, MadeBy::Header));
            match table.entry(key.clone(), line, fresh) {
                Value::Table(inner) if inner.made_by != MadeBy::Braces => table = inner,
                _ => return Err(twice(key)),
            }
        }
        let is_new = !table.has(last);
        let fresh =
            if is_list { Value::List(Vec::new()) } else { Value::Table(Table::new(line, MadeBy::Header)) };
        match table.entry(last.clone(), line, fresh) {
            Value::List(list) if is_list && (is_new || is_of_headers(list)) => {
                list.push(Value::Table(Table::new(line, MadeBy::Header)));
            }
            Value::Table(_) if !is_list && is_new => {}
            _ => return Err(twice(last)),
        }
        Ok(path)
    }

    fn pair(&mut self, mut table: &mut Table, depth: u32) -> Read<()> {
        let line = self.line;
        let path = self.path()?;
        if !self.take(b'=') {
            return Err(format!("`{}` is followed by no `=`", shortened(&path.join("."))));
        }
        self.skip_spaces();
        let value = self.value(depth)?;
        let (last, outer) = path.split_last().expect("a path has an end");
        for key in outer {
            match table.entry(key.clone(), line, Value::Table(Table::new(line, MadeBy::Dots))) {
                Value::Table(inner) if inner.made_by == MadeBy::Dots => table = inner,
                _ => return Err(twice(key)),
            }
        }
        if table.has(last) {
            return Err(twice(last));
        }
        table.entries.push((last.clone(), line, value));
        Ok(())
    }

    fn path(&mut self) -> Read<Vec<String>> {
        let mut path = Vec::new();
        loop {
            path.push(self.key()?);
            self.skip_spaces();
            if path.len() as u32 > MAX_DEPTH {
                return Err(too_deep());
            }
            if !self.take(b'.') {
                return Ok(path);
            }
            self.skip_spaces();
        }
    }

    fn key(&mut self) -> Read<String> {
        if let Some(b'"' | b'\'') = self.peek() {
            return self.quoted();
        }
        let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        match self.taken(is_bare) {
            "" => Err(format!("{} is found; allowed: {BARE}", self.found())),
            key => Ok(key.into()),
        }
    }

    fn value(&mut self, depth: u32) -> Read<Value> {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        match self.peek() {
            Some(b'"' | b'\'') => self.quoted().map(Value::Text),
            Some(b'[') => self.list(depth),
            Some(b'{') => self.braces(depth),
            _ => {
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-_.:".contains(&byte);
                let word = self.taken(is_plain);
                plain(word).ok_or_else(|| match word {
                    "" => format!("{} is found; allowed: a value", self.found()),
                    word => format!(
                        "`{}` is no value; allowed: a number, true, false, a text in quotes, a list, a table",
                        shortened(word)
                    ),
                })
            }
        }
    }

    fn list(&mut self, depth: u32) -> Read<Value> {
        self.at += 1;
        let mut list = Vec::new();
        loop {
            self.skip_lines()?;
            if self.take(b']') {
                return Ok(Value::List(list));
            }
            list.push(self.value(depth + 1)?);
            self.skip_lines()?;
            if !self.take(b',') && self.peek() != Some(b']') {
                return Err(format!("{} is found in a list; allowed: `,` or `]`", self.found()));
            }
        }
    }

    fn braces(&mut self, depth: u32) -> Read<Value> {
        self.at += 1;
        let mut table = Table::new(self.line, MadeBy::Braces);
        self.skip_spaces();
        while !self.take(b'}') {
            self.pair(&mut table, depth + 1)?;
            self.skip_spaces();
            let is_more = self.take(b',');
            self.skip_spaces();
            if is_more == (self.peek() == Some(b'}')) {
                return Err(format!(
                    "{} is found in a table; allowed: another key after each `,`",
                    self.found()
                ));
            }
        }
        Ok(Value::Table(table))
    }

    fn quoted(&mut self) -> Read<String> {
        let quote = self.next().expect("a quote was seen");
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(letter) = rest.chars().next().filter(|letter| *letter != '\n' && *letter != '\r') else {
                return Err("a text in quotes does not end in its line".into());
            };
            self.at += letter.len_utf8();
            match letter {
                _ if letter as u32 == u32::from(quote) => break,
                '\\' if quote == b'"' => text.push(self.escaped()?),
                '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f' => {
                    return Err("a text has a control character".into());
                }
                _ => text.push(letter),
            }
        }
        if text.is_empty() && self.peek() == Some(quote) {
            return Err("a text in three quotes is not read here; allowed: one of one line".into());
        }
        Ok(text)
    }

    fn escaped(&mut self) -> Read<char> {
        let digits = match self.next() {
            Some(b'b') => return Ok('\x08'),
            Some(b't') => return Ok('\t'),
            Some(b'n') => return Ok('\n'),
            Some(b'f') => return Ok('\x0c'),
            Some(b'r') => return Ok('\r'),
            Some(b'"') => return Ok('"'),
            Some(b'\\') => return Ok('\\'),
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => 0,
        };
        let code = self
            .text
            .get(self.at..self.at + digits)
            .filter(|code| code.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        self.at += if code.is_some() { digits } else { 0 };
        code.and_then(char::from_u32).ok_or_else(|| "a text has an unknown escape after `\\`".into())
    }

    fn skip_lines(&mut self) -> Read<()> {
        loop {
            self.skip_spaces();
            match self.peek() {
                Some(b'#') => self.skip_comment()?,
                Some(b'\n' | b'\r') => self.line_end()?,
                _ => return Ok(()),
            }
        }
    }

    fn end_of_line(&mut self) -> Read<()> {
        self.skip_spaces();
        match self.peek() {
            None | Some(b'\n' | b'\r') => Ok(()),
            Some(b'#') => self.skip_comment(),
            Some(_) => Err(format!("{} is found after a value; allowed: the end of the line", self.found())),
        }
    }

    fn line_end(&mut self) -> Read<()> {
        self.take(b'\r');
        if !self.take(b'\n') {
            return Err("a carriage return is not followed by a line feed".into());
        }
        self.line += 1;
        Ok(())
    }

    fn skip_comment(&mut self) -> Read<()> {
        let comment = self.taken(|byte| byte != b'\n' && byte != b'\r');
        match comment.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f) {
            true => Err("a comment has a control character".into()),
            false => Ok(()),
        }
    }

    fn skip_spaces(&mut self) {
        self.taken(|byte| byte == b' ' || byte == b'\t');
    }

    fn taken(&mut self, is_so: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let len = rest.bytes().position(|byte| !is_so(byte)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_it = self.peek() == Some(byte);
        self.at += usize::from(is_it);
        is_it
    }

    fn next(&mut self) -> Option<u8> {
        // Skips only ASCII bytes, so reading continues at a character boundary.
        let next = self.peek().filter(u8::is_ascii)?;
        self.at += 1;
        Some(next)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn found(&self) -> String {
        match self.text[self.at..].chars().next() {
            None => "the end".into(),
            Some('\n' | '\r') => "the end of the line".into(),
            Some(letter) => format!("`{}`", letter.escape_debug()),
        }
    }
}

fn inside<'a>(root: &'a mut Table, path: &[String]) -> Read<&'a mut Table> {
    let mut table = root;
    for key in path {
        let found = table.entries.iter_mut().find(|(other, ..)| other == key);
        table = match found.map(|(_, _, value)| value) {
            Some(Value::Table(inner)) => inner,
            Some(Value::List(list)) => match list.last_mut() {
                Some(Value::Table(inner)) => inner,
                _ => return Err(twice(key)),
            },
            _ => return Err(twice(key)),
        };
    }
    Ok(table)
}

fn is_of_headers(list: &[Value]) -> bool {
    matches!(list.last(), Some(Value::Table(table)) if table.made_by == MadeBy::Header)
}

fn twice(key: &str) -> String {
    format!("`{}` is given twice", shortened(key))
}

fn too_deep() -> String {
    format!("lists and tables are more than {MAX_DEPTH} deep")
}

fn plain(word: &str) -> Option<Value> {
    match word {
        "true" => return Some(Value::Truth(true)),
        "false" => return Some(Value::Truth(false)),
        _ => {}
    }
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    if unsigned == "inf" || unsigned == "nan" {
        return word.parse().ok().map(Value::Number);
    }
    let radix = unsigned.get(..2).and_then(|prefix| match prefix {
        "0x" => Some(16),
        "0o" => Some(8),
        "0b" => Some(2),
        _ => None,
    });
    if let Some(radix) = radix.filter(|_| unsigned.len() == word.len()) {
        let digits = without_underscores(&word[2..], radix)?;
        return i64::from_str_radix(&digits, radix).ok().map(Value::Whole);
    }
    let (mantissa, exponent) =
        unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(m, e)| (m, Some(e)));
    let (whole, part) =
        mantissa.split_once('.').map_or((mantissa, None), |(whole, part)| (whole, Some(part)));
    let mut text = String::from(if word.starts_with('-') { "-" } else { "" });
    let digits = without_underscores(whole, 10)?;
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    text += &digits;
    if part.is_none() && exponent.is_none() {
        return text.parse().ok().map(Value::Whole);
    }
    if let Some(part) = part {
        text.push('.');
        text += &without_underscores(part, 10)?;
    }
    if let Some(exponent) = exponent {
        text.push('e');
        text += if exponent.starts_with('-') { "-" } else { "" };
        text += &without_underscores(exponent.strip_prefix(['+', '-']).unwrap_or(exponent), 10)?;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Number)
}

fn without_underscores(digits: &str, radix: u32) -> Option<String> {
    let is_right = !digits.is_empty()
        && digits.split('_').all(|part| !part.is_empty() && part.chars().all(|digit| digit.is_digit(radix)));
    is_right.then(|| digits.replace('_', ""))
}

//! Configuration of every shape the language allows, made by chance and the same in every run.

use std::fmt::Write;

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }

    /// White space inside a line.
    fn space(&mut self) -> &'static str {
        self.pick(&["", " ", " ", " ", "  ", "\t", "     "])
    }
}

/// An attribute of the resource: its value in a plan before and after.
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// A file with a resource `t_x.n`, and what changed outside.
pub(crate) struct Generated {
    pub(crate) text: String,
    pub(crate) targets: Vec<Target>,
}

impl Generated {
    pub(crate) fn values(&self, side: impl Fn(&Target) -> &String) -> String {
        let fields: Vec<String> =
            self.targets.iter().map(|it| format!("\"{}\":{}", it.name, side(it))).collect();
        format!("{{{}}}", fields.join(","))
    }

    /// A plan in which all of it drifted and would be put back.
    pub(crate) fn plan(&self) -> String {
        let (before, after) = (self.values(|it| &it.before), self.values(|it| &it.after));
        let entry = |before: &str, after: &str| {
            format!(
                r#"{{"address":"t_x.n","mode":"managed","type":"t_x","name":"n","change":{{"actions":["update"],"before":{before},"after":{after},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
            )
        };
        format!(
            r#"{{"format_version":"1.2","resource_drift":[{}],"resource_changes":[{}]}}"#,
            entry(&before, &after),
            entry(&after, &before)
        )
    }
}

const TEXTS: &[&str] = &[
    "a",
    "",
    "two words",
    "ünï-日本",
    "$${not}",
    "%%{not}",
    "q\\\"q",
    "b\\\\s",
    "t\\tt",
    "100%",
    "$",
    "e\u{301}🇩🇪",
];

/// An expression that is no literal, with spaces of all kinds.
pub(crate) fn expression(dice: &mut Dice, depth: usize) -> String {
    let sides = if depth == 0 { 7 } else { 21 };
    let which = dice.roll(sides);
    let inner = |dice: &mut Dice| expression(dice, depth.saturating_sub(1));
    let (a, b) = (dice.space(), dice.space());
    match which {
        0 => format!("var.v{}", dice.roll(9)),
        1 => format!("\"{}\"", dice.pick(TEXTS)),
        2 => format!("{}", dice.roll(100_000)),
        3 => dice.pick(&["true", "false", "null", "-1", "1.5e3", "data.x.y.z"]).to_owned(),
        4 => format!("aws_x.y[{}].id", dice.roll(3)),
        5 => "local.list[*].name".to_owned(),
        6 => format!("\"pre-${{{a}var.x{b}}}-post\""),
        7 => format!("{}{a}+{b}{}", inner(dice), inner(dice)),
        8 => format!("var.c{a}?{b}{}{a}:{b}{}", inner(dice), inner(dice)),
        9 => format!("f({a}{}{b},{a}{}{b})", inner(dice), inner(dice)),
        10 => format!("[{a}for{b} v{a} in var.l{b}:{a}{}{b}]", inner(dice)),
        11 => format!("{{{a}for k, v in var.m{b}:{a}k{b}=>{a}{} if v != null }}", inner(dice)),
        12 => format!("[{a}{}{b},{a}{}{b}]", inner(dice), inner(dice)),
        13 => format!("{{{a}k{b}={a}{}{b},{a}\"l m\"{b}={a}{}{b}}}", inner(dice), inner(dice)),
        14 => format!("({a}{}{b})", inner(dice)),
        15 => format!("!{}", dice.pick(&["var.a", "true", "(var.a)"])),
        16 => format!("var.a{a}=={b}{}{a}&&{b}!var.b", inner(dice)),
        17 => format!("\"${{{}}}%{{ if var.a }}x%{{ else }}y%{{ endif }}\"", inner(dice)),
        18 => format!("-{}", dice.pick(&["var.a", "(1)", "3"])),
        19 => format!("f({a}{}...{b})", inner(dice)),
        _ => format!("provider::x::f({a}{}{b})", inner(dice)),
    }
}

/// A comment behind a value, or none.
fn comment(dice: &mut Dice) -> &'static str {
    dice.pick(&["", "", "", "", " # why", "  // because", "# x", " /* y */", "     # ünï"])
}

/// Lines that stand between attributes.
fn between(dice: &mut Dice, indent: &str, number: usize, out: &mut String) {
    let (a, b) = (dice.space(), dice.space());
    let _ = match dice.roll(16) {
        0 => writeln!(out),
        1 => writeln!(out, "{indent}# a remark on {{ brackets ( \"quotes\""),
        2 => writeln!(out, "{indent}// {{"),
        3 => writeln!(out, "{indent}/* several\n   lines\n*/"),
        4 => writeln!(out, "{indent}z{number}{a}={b}{}{}", expression(dice, 2), comment(dice)),
        5 => writeln!(
            out,
            "{indent}h{number}{a}={b}<<-EOT\n{indent}  {{ x ${{ var.y }}\n\n{indent}    deep $${{z}}\n{indent}EOT"
        ),
        6 => writeln!(out, "{indent}h{number} = <<END\nraw \" text\n  of END\nEND"),
        7 => writeln!(
            out,
            "{indent}f{number} = f(\n{indent}{a}  {},\n{indent}  {}\n{indent})",
            expression(dice, 1),
            expression(dice, 1)
        ),
        8 => writeln!(
            out,
            "{indent}o{number}{a}= {{\n{indent}  a{b}= {}{}\n{indent}  long_key{a}= {}{}\n{indent}}}",
            expression(dice, 1),
            comment(dice),
            expression(dice, 1),
            comment(dice)
        ),
        9 => writeln!(out, "{indent}c{number} = var.x ? [\n{indent}  1,\n{indent}] : []"),
        10 => writeln!(out, "{indent}b{number}{a}{{{b}x{a}={b}1{a}}}"),
        11 => writeln!(out, "{indent}b{number} \"label\"{a}{{}}"),
        12 => writeln!(
            out,
            "{indent}b{number}{a} {{{}\n{indent}  in{b}= {}{}\n\n{indent}  deep {{\n{indent}    x = 1\n{indent}  }}\n{indent}}}",
            dice.pick(&["", " # head"]),
            expression(dice, 1),
            comment(dice)
        ),
        13 => writeln!(
            out,
            "{indent}dynamic \"d{number}\" {{\n{indent}  for_each = var.d\n{indent}  content {{\n{indent}    k = d{number}.value\n{indent}  }}\n{indent}}}"
        ),
        14 => writeln!(
            out,
            "{indent}l{number} = [\n{indent}  {}, # one\n{indent}  {},\n{indent}]",
            expression(dice, 1),
            expression(dice, 1)
        ),
        _ => Ok(()),
    };
}

/// A value that changed outside: before, after, and as it is written.
fn value(dice: &mut Dice, indent: &str) -> (String, String, String) {
    let (n, m) = (dice.roll(1000), 1000 + dice.roll(1_000_000));
    let text = dice.pick(&["plain", "ünï", "with \\\"quotes\\\"", "${x} %{y}", "two\\nlines"]);
    let (a, b) = (dice.space(), dice.space());
    match dice.roll(13) {
        0 => (n.to_string(), m.to_string(), n.to_string()),
        1 => (format!("\"t{n}\""), format!("\"{text}{m}\""), format!("\"t{n}\"")),
        2 => ("true".into(), "false".into(), "true".into()),
        3 => (
            format!("[\"{n}\"]"),
            format!("[\"{n}\",\"{m}\"]"),
            format!("[\n{indent}  \"{n}\",{a}# kept\n{indent}]"),
        ),
        4 => (
            format!("[\"a\",\"{n}\",\"z\"]"),
            format!("[\"a\",\"{m}\",\"x\",\"z\"]"),
            format!("[{a}\"a\"{b},{a}\"{n}\",\"z\"{a}]"),
        ),
        5 => (
            format!("[\"a\",\"{n}\",\"z\"]"),
            "[\"z\"]".into(),
            format!("[\n{indent}  \"a\", # gone\n{indent}  \"{n}\",\n{indent}  \"z\"\n{indent}]"),
        ),
        6 => (
            format!("{{\"k\":\"{n}\",\"long_key\":\"v\"}}"),
            format!("{{\"k\":\"{n}\",\"even_longer_key\":\"{m}\"}}"),
            format!(
                "{{\n{indent}  k{a}= \"{n}\"{}\n{indent}  long_key{b}= \"v\"\n{indent}}}",
                comment(dice)
            ),
        ),
        7 => (
            format!("{{\"a b\":\"{n}\",\"c\":\"v\"}}"),
            format!("{{\"a b\":\"{m}\",\"c\":\"v\"}}"),
            format!("{{\n{indent}  \"a b\" : \"{n}\",\n{indent}  c{a}={b}\"v\",\n{indent}}}"),
        ),
        8 => (
            format!("{{\"k\":\"{n}\"}}"),
            format!("{{\"k\":\"{n}\",\"new\":{m}}}"),
            format!("{{{a}k{b}={a}\"{n}\"{b}}}"),
        ),
        9 => (
            format!("\"{n}\\nx ${{y}}\\n\""),
            format!("\"{m}\\n\\n  z\\nx ${{y}}\\n\""),
            format!("<<-EOT\n{indent}    {n}\n{indent}    x $${{y}}\n{indent}  EOT"),
        ),
        10 => (
            format!("\"{{\\\"a\\\":{n},\\\"b\\\":[1]}}\""),
            format!("\"{{\\\"a\\\":{m},\\\"b\\\":[1,2]}}\""),
            format!(
                "jsonencode({{\n{indent}  a{a}= {n}\n{indent}  b{b}= [1]{}\n{indent}}})",
                comment(dice)
            ),
        ),
        11 => (
            format!("\"{{\\\"a\\\":{n},\\\"b\\\":{{\\\"c\\\":1}}}}\\n\""),
            format!("\"{{\\\"a\\\":{m},\\\"b\\\":{{\\\"c\\\":1,\\\"d\\\":2}}}}\""),
            format!("<<EOT\n{{ \"a\" : {n},\n  \"b\": {{\n   \"c\": 1 }} }}\nEOT"),
        ),
        _ => (n.to_string(), m.to_string(), format!("({a}{n}{b})")),
    }
}

/// A file in the native syntax.
pub(crate) fn native(dice: &mut Dice) -> Generated {
    let mut targets = Vec::new();
    let mut out = String::from("# head\n");
    for number in 0..dice.roll(3) {
        between(dice, "", number + 50, &mut out);
    }
    let _ = writeln!(
        out,
        "resource{}\"t_x\" \"n\"{}{{",
        dice.pick(&[" ", "  "]),
        dice.pick(&[" ", ""])
    );
    let indent = dice.pick(&["  ", "  ", "  ", "    ", "\t"]);
    for number in 0..2 + dice.roll(7) {
        between(dice, indent, number, &mut out);
        let name = format!("a{number}{}", "x".repeat(dice.roll(6)));
        let (a, b) = (dice.space(), dice.space());
        let (before, after, written) = value(dice, indent);
        let is_heredoc = written.starts_with("<<");
        // Some do not change, some go away, some are new.
        let (before, after, is_written) = match dice.roll(7) {
            0 => (before.clone(), before, true),
            1 => (before, "null".to_owned(), true),
            2 => ("null".to_owned(), dice.roll(9999).to_string(), false),
            _ => (before, after, true),
        };
        if is_written {
            let comment = if is_heredoc { "" } else { comment(dice) };
            let _ = writeln!(out, "{indent}{name}{a}={b}{written}{comment}");
        }
        targets.push(Target { name, before, after });
    }
    between(dice, indent, 40, &mut out);
    out.push_str("}\n\n# tail\n");
    for number in 0..dice.roll(3) {
        between(dice, "", number + 60, &mut out);
    }
    let _ = writeln!(out, "locals {{\n  x = 1\n}}");
    let text = match dice.roll(12) {
        0 => out.replace('\n', "\r\n"),
        1 => format!("\u{feff}{out}"),
        2 => out.trim_end().to_owned(),
        _ => out,
    };
    Generated { text, targets }
}

/// A file in the JSON syntax, with spaces of all kinds.
pub(crate) fn json(dice: &mut Dice) -> Generated {
    let mut targets = Vec::new();
    let mut entries = Vec::new();
    let indent = dice.pick(&["  ", "    ", "\t"]);
    let newline = dice.pick(&["\n", "\n", "\r\n", ""]);
    for number in 0..2 + dice.roll(6) {
        let (a, b) = (dice.pick(&["", " "]), dice.pick(&["", " ", "  "]));
        let (n, m) = (dice.roll(1000), 1000 + dice.roll(1_000_000));
        entries.push(match dice.roll(5) {
            0 => format!("\"//\"{a}:{b}\"a remark {number}\""),
            1 => format!("\"z{number}\"{a}:{b}\"${{var.z}}\""),
            2 => format!("\"b{number}\"{a}:{b}[{{\"x\":{b}1}}{a},{b}{{\"x\": [ ]}}]"),
            3 => format!("\"u{number}\"{a}:{b}\"\\u00e9$${{x}} ünï\""),
            _ => format!("\"e{number}\"{a}:{b}{{{a}}}"),
        });
        let name = format!("a{number}");
        let (before, after, written) = match dice.roll(7) {
            0 => (n.to_string(), m.to_string(), n.to_string()),
            1 => (format!("\"${{x}}{n}\""), format!("\"%{{y}}{m}\\n\""), format!("\"$${{x}}{n}\"")),
            2 => ("[1,2]".into(), format!("[1,{m},2,3]"), format!("[{b}1{a},{b}2{a}]")),
            3 => (
                "[1,2]".into(),
                "[2]".into(),
                format!("[{newline}{indent}1,{newline}{indent}2{newline}]"),
            ),
            4 => (
                format!("{{\"k\":{n}}}"),
                format!("{{\"k\":{n},\"l m\":\"{m}\"}}"),
                format!("{{{b}\"k\"{a}:{b}{n}{a}}}"),
            ),
            5 => (
                format!("{{\"k\":{n},\"l\":true}}"),
                "{\"l\":true}".into(),
                format!("{{{newline}{indent}\"k\":{b}{n},{newline}{indent}\"l\": true{newline}}}"),
            ),
            _ => ("null".into(), m.to_string(), String::new()),
        };
        if !written.is_empty() {
            entries.push(format!("\"{name}\"{a}:{b}{written}"));
        }
        let after = if dice.roll(6) == 0 { "null".to_owned() } else { after };
        targets.push(Target { name, before, after });
    }
    let deep = if newline.is_empty() { String::new() } else { indent.repeat(3) };
    let body = entries.join(&format!(",{newline}{deep}"));
    let text = format!(
        "{{{newline}\"//\": \"head\",{newline}\"resource\": {{\"t_x\": {{\"n\": {{{newline}{deep}{body}{newline}}}}}}},{newline}\"locals\": {{\"x\": \"${{1}}\"}}{newline}}}{newline}"
    );
    Generated { text, targets }
}

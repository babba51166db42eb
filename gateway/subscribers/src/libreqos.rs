//! The files of LibreQoS: `ShapedDevices.csv` with the devices of circuits, and `network.json` with
//! the sites and access points above them.
//!
//! The rows with one Circuit ID form one subscriber, with `Min` as guarantee and `Max` as ceiling,
//! in Mbit/s. Guarantees above a node's capacity, which LibreQoS accepts, are scaled to fit. The
//! column `MAC` is ignored, since it would bind uploads to one device.

use crate::sheet::checked_name;
use fairwire_core::Rate;
use fairwire_datapath::classify::{Prefix, PrefixError};
use fairwire_document::{quoted, shortened};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A node of the network, which becomes a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The parent's index in the list of nodes.
    pub parent: Option<usize>,
    /// The node's capacities: download, upload.
    pub ceilings: [Option<Rate>; 2],
}

/// A circuit, which becomes a subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// Circuit ID.
    pub name: String,
    /// The networks of all devices of the circuit.
    pub prefixes: Vec<Prefix>,
    /// Parent Node.
    pub parent: String,
    /// Min and Max of the download, then of the upload, bit/s.
    pub rates: [[Rate; 2]; 2],
}

/// The contents of a file, with notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted<T> {
    /// The contents.
    pub read: Vec<T>,
    /// Notes on rows and addresses that are left out, and on rows whose rates or parent differ from
    /// the circuit's first row.
    pub notes: Vec<String>,
}

/// For each subscriber's name, the pairs of column name and value.
pub type Plans = BTreeMap<String, Vec<(String, String)>>;

const COLUMNS: [&str; 8] = [
    "Circuit ID",
    "Parent Node",
    "IPv4",
    "IPv6",
    "Download Min Mbps",
    "Upload Min Mbps",
    "Download Max Mbps",
    "Upload Max Mbps",
];
const CIRCUIT: usize = 0;
const PARENT: usize = 1;
const IPV4: usize = 2;
const IPV6: usize = 3;
/// The first column with a rate.
const RATES: usize = 4;

/// The column that identifies a `ShapedDevices.csv`.
pub const FIRST_COLUMN: &str = COLUMNS[CIRCUIT];

/// The circuits of a `ShapedDevices.csv`. Invalid rows are left out and noted.
///
/// # Errors
/// The reason why `text` is no such table.
pub fn circuits(text: &str) -> Result<Noted<Circuit>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let head = reader.headers().map_err(|error| error.to_string())?.clone();
    let is = |given: &str, name: &str| {
        given.eq_ignore_ascii_case(name) || given.eq_ignore_ascii_case(name.trim_end_matches(" Mbps"))
    };
    let places = COLUMNS.map(|name| head.iter().position(|given| is(given, name)));
    let missing = COLUMNS.iter().zip(places).find(|(name, place)| place.is_none() && **name != COLUMNS[IPV6]);
    if let Some((name, _)) = missing {
        return Err(format!("line 1 has no column `{name}`; allowed: a ShapedDevices.csv of LibreQoS"));
    }
    let (mut read, mut notes): (Vec<Circuit>, Vec<String>) = (Vec::new(), Vec::new());
    let mut by_name: HashMap<String, usize> = HashMap::new();
    let mut owners: HashMap<Prefix, String> = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let values = places.map(|place| place.and_then(|place| record.get(place)).unwrap_or(""));
        let mut device = match device(values) {
            Ok(device) => device,
            Err(why) => {
                notes.push(format!("line {line} is left out: {why}"));
                continue;
            }
        };
        device.prefixes.retain(|prefix| match owners.get(prefix) {
            Some(owner) if *owner == device.name => false,
            Some(owner) => {
                notes.push(format!(
                    "line {line}: `{prefix}` is left out: `{}` has it already",
                    shortened(owner)
                ));
                false
            }
            None => owners.insert(*prefix, device.name.clone()).is_none(),
        });
        match by_name.get(&device.name).map(|place| &mut read[*place]) {
            Some(circuit) => {
                if (circuit.rates, &circuit.parent) != (device.rates, &device.parent) {
                    let name = shortened(&device.name);
                    notes.push(format!("line {line}: `{name}` has another plan before, which counts"));
                }
                circuit.prefixes.append(&mut device.prefixes);
            }
            None => {
                by_name.insert(device.name.clone(), read.len());
                read.push(device);
            }
        }
    }
    match read.is_empty() {
        true => Err(notes.into_iter().next().unwrap_or_else(|| "it has no circuit".to_owned())),
        false => Ok(Noted { read, notes }),
    }
}

fn device(values: [&str; COLUMNS.len()]) -> Result<Circuit, String> {
    let name = values[CIRCUIT].to_owned();
    checked_name(&name).map_err(|bad| {
        format!("its Circuit ID is `{}`, but {}; allowed: {}", shortened(&name), bad.why, bad.allowed)
    })?;
    let mut prefixes = Vec::new();
    for column in [IPV4, IPV6] {
        for text in values[column].split([',', ';', ' ']).filter(|text| !text.is_empty()) {
            prefixes.push(match text.parse::<Prefix>() {
                Ok(prefix) => prefix,
                // If an address has host bits, LibreQoS uses its network.
                Err(PrefixError::HostBits { network }) => network,
                Err(error) => {
                    return Err(format!("`{}` is `{}`, but {error}", COLUMNS[column], shortened(text)));
                }
            });
        }
    }
    let mut rates = [[Rate::from_bps(1).expect("above 0"); 2]; 2];
    for (place, &given) in values[RATES..].iter().enumerate() {
        let bps =
            given.parse::<f64>().ok().filter(|mbps| *mbps <= 1e6).map(|mbps| (mbps * 1e6).round() as u64);
        let Some(rate) = bps.and_then(Rate::from_bps) else {
            let (column, given) = (COLUMNS[RATES + place], shortened(given));
            return Err(format!("`{column}` is `{given}`; allowed: a number above 0, up to 1000000"));
        };
        rates[place % 2][place / 2] = rate;
    }
    let rates = rates.map(|[min, max]| [min.min(max), max]);
    Ok(Circuit { name, prefixes, parent: values[PARENT].to_owned(), rates })
}

/// The nodes of a `network.json`, parents first.
///
/// # Errors
/// The reason why `text` is no such file.
pub fn nodes(text: &str) -> Result<Vec<Node>, String> {
    let top: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let (mut nodes, mut names) = (Vec::new(), BTreeSet::new());
    let mut waiting: Vec<(Option<usize>, String, Value)> =
        top.into_iter().rev().map(|(name, node)| (None, name, node)).collect();
    while let Some((parent, name, node)) = waiting.pop() {
        checked_name(&name)
            .map_err(|bad| format!("node `{}`: {}; allowed: {}", shortened(&name), bad.why, bad.allowed))?;
        if !names.insert(name.clone()) {
            return Err(format!("node `{}` is there twice; allowed: each name once", shortened(&name)));
        }
        let Value::Object(mut node) = node else {
            return Err(format!(
                "node `{}` is no table; allowed: a network.json of LibreQoS",
                shortened(&name)
            ));
        };
        let ceiling = |key| {
            let mbps = node.get(key).and_then(Value::as_f64)?;
            Rate::from_bps((mbps * 1e6).round() as u64)
        };
        let ceilings = ["downloadBandwidthMbps", "uploadBandwidthMbps"].map(ceiling);
        if let Some(Value::Object(children)) = node.remove("children") {
            let place = Some(nodes.len());
            waiting.extend(children.into_iter().rev().map(|(name, node)| (place, name, node)));
        }
        nodes.push(Node { name, parent, ceilings });
    }
    Ok(nodes)
}

/// The `[[class]]` tables of `nodes`.
pub fn classes(nodes: &[Node]) -> String {
    let mut text = String::new();
    for node in nodes {
        text += &format!("[[class]]\nname = {}\n", quoted(&node.name));
        if let Some(parent) = node.parent {
            text += &format!("parent = {}\n", quoted(&nodes[parent].name));
        }
        for (way, ceiling) in ["download", "upload"].into_iter().zip(node.ceilings) {
            if let Some(ceiling) = ceiling {
                text += &format!("{way} = {{ ceiling = \"{ceiling}\" }}\n");
            }
        }
        text.push('\n');
    }
    text
}

/// The subscriber file's values for each circuit, and notes. Guarantees are scaled to the
/// capacities of the parent nodes and of `links`. A circuit whose Parent Node is neither in `nodes`
/// nor in `classes` is under the root.
pub fn plans(
    circuits: &[Circuit],
    nodes: &[Node],
    classes: &BTreeSet<String>,
    links: [Option<Rate>; 2],
) -> (Plans, Vec<String>) {
    let places: HashMap<&str, usize> = nodes.iter().map(|node| node.name.as_str()).zip(0..).collect();
    let above: Vec<Option<usize>> =
        circuits.iter().map(|circuit| places.get(circuit.parent.as_str()).copied()).collect();
    let unknown: BTreeSet<&str> = circuits
        .iter()
        .map(|circuit| circuit.parent.as_str())
        .filter(|parent| !parent.is_empty() && !places.contains_key(parent) && !classes.contains(*parent))
        .collect();
    let mut notes: Vec<String> = unknown
        .iter()
        .map(|parent| format!("there is no node `{}`: its circuits are under the root", shortened(parent)))
        .collect();
    let ways = [0, 1].map(|way| scaled(way, circuits, nodes, &above, links[way], &mut notes));
    let mut plans = BTreeMap::new();
    for (place, circuit) in circuits.iter().enumerate() {
        let addresses: Vec<String> = circuit.prefixes.iter().map(crate::held::written).collect();
        let class = Some(&circuit.parent).filter(|parent| !unknown.contains(parent.as_str()));
        let mut values = vec![
            ("addresses".to_owned(), addresses.join(" ")),
            ("class".to_owned(), class.cloned().unwrap_or_default()),
        ];
        for (way, name) in ["download", "upload"].into_iter().enumerate() {
            let guaranteed =
                Rate::from_bps(ways[way][place]).map(|rate| rate.to_string()).unwrap_or_default();
            values.push((format!("{name}_guaranteed"), guaranteed));
            values.push((format!("{name}_ceiling"), circuit.rates[way][1].to_string()));
        }
        plans.insert(circuit.name.clone(), values);
    }
    (plans, notes)
}

/// The circuits' guarantees in one direction, bit/s, scaled so that each node and the link can keep
/// them.
fn scaled(
    way: usize,
    circuits: &[Circuit],
    nodes: &[Node],
    above: &[Option<usize>],
    link: Option<Rate>,
    notes: &mut Vec<String>,
) -> Vec<u64> {
    // The last entry of `totals` is for the link.
    let root = nodes.len();
    let mut totals = vec![0_u128; root + 1];
    for (circuit, node) in circuits.iter().zip(above) {
        totals[node.unwrap_or(root)] += u128::from(circuit.rates[way][0].bps());
    }
    // For each node and then the link: the capacity and the sum of guarantees, or (1, 1) if the sum
    // fits.
    let mut parts = vec![(1_u128, 1_u128); root + 1];
    for place in (0..root).rev() {
        keep(place, nodes[place].ceilings[way], &mut totals, &mut parts);
        totals[nodes[place].parent.unwrap_or(root)] += totals[place];
    }
    keep(root, link, &mut totals, &mut parts);
    for (place, (most, total)) in parts.iter().enumerate().filter(|(_, (most, total))| most < total) {
        let name =
            nodes.get(place).map_or("the link".to_owned(), |node| format!("`{}`", shortened(&node.name)));
        let way = ["download", "upload"][way];
        let mbps = |bps: u128| bps as f64 / 1e6;
        notes.push(format!(
            "{way}: {} Mbit/s are guaranteed below {name}, which has {}: each guarantee is scaled to {:.3} of it",
            mbps(*total),
            mbps(*most),
            *most as f64 / *total as f64
        ));
    }
    let of = |(circuit, node): (&Circuit, &Option<usize>)| {
        let below = std::iter::successors(*node, |place| nodes[*place].parent);
        let chain = below.chain([root]);
        let bps = chain.fold(u128::from(circuit.rates[way][0].bps()), |bps, place| {
            let (most, total) = parts[place];
            bps * most / total
        });
        u64::try_from(bps).unwrap_or(u64::MAX)
    };
    circuits.iter().zip(above).map(of).collect()
}

fn keep(place: usize, most: Option<Rate>, totals: &mut [u128], parts: &mut [(u128, u128)]) {
    if let Some(most) = most.map(|most| u128::from(most.bps())).filter(|most| *most < totals[place]) {
        parts[place] = (most, totals[place]);
        totals[place] = most;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,\
                        Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment\n";
    const NETWORK: &str = r#"{"Site":{"downloadBandwidthMbps":1000,"uploadBandwidthMbps":1000,"type":"Site",
        "children":{"AP":{"downloadBandwidthMbps":500,"uploadBandwidthMbps":100}}},"Other":{}}"#;

    fn value<'a>(plans: &'a Plans, name: &str, column: &str) -> &'a str {
        &plans[name].iter().find(|(known, _)| known == column).expect("it has that").1
    }

    #[test]
    fn devices_of_a_circuit_are_one_subscriber() {
        let text = format!(
            "{HEAD}# a comment\n\
             1,A,d1,x,AP,,\"10.0.0.3, 10.0.0.4\",2001:db8:1::/48,1,1,7.5,2,\n\
             1,A,d2,y,AP,,10.0.0.5,,1,1,7.5,2,\n\
             2,B,d3,z,AP,,10.0.0.5,,1,1,10,2,\n\
             3,C,d4,z,AP,,10.0.0.300,,1,1,10,2,\n\
             4,D,d5,z,AP,,10.0.0.6,,1,1,fast,2,\n"
        );
        let Noted { read, notes } = circuits(&text).unwrap();
        assert_eq!(read.len(), 2);
        let shown: Vec<String> = read[0].prefixes.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["10.0.0.3/32", "10.0.0.4/32", "2001:db8:1::/48", "10.0.0.5/32"]);
        assert_eq!(read[0].rates[0].map(Rate::bps), [1_000_000, 7_500_000]);
        assert_eq!(read[0].rates[1].map(Rate::bps), [1_000_000, 2_000_000]);
        let starts = [
            "line 5: `10.0.0.5/32` is left out: `1` has it",
            "line 6 is left out: `IPv4` is",
            "line 7 is left out: `Download Max Mbps` is `fast`",
        ];
        assert_eq!(notes.len(), starts.len(), "{notes:?}");
        for (note, start) in notes.iter().zip(starts) {
            assert!(note.starts_with(start), "{note}");
        }
        assert!(circuits("name,addresses\n").unwrap_err().contains("no column `Circuit ID`"));
        assert!(circuits(HEAD).is_err());
    }

    #[test]
    fn nodes_are_classes_below_each_other() {
        let nodes = nodes(NETWORK).unwrap();
        assert_eq!(
            classes(&nodes),
            "[[class]]\nname = \"Other\"\n\n\
             [[class]]\nname = \"Site\"\ndownload = { ceiling = \"1 Gbit/s\" }\nupload = { ceiling = \"1 Gbit/s\" }\n\n\
             [[class]]\nname = \"AP\"\nparent = \"Site\"\ndownload = { ceiling = \"500 Mbit/s\" }\n\
             upload = { ceiling = \"100 Mbit/s\" }\n\n"
        );
        for bad in ["[]", "{\"a\":1}", "{\"a\":{\"children\":{\"a\":{}}}}", "{"] {
            assert!(super::nodes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn guarantees_are_scaled_to_their_parent() {
        let rows: String = (0..10).map(|n| format!("c{n},,,,AP,,10.0.0.{n},,155,155,155,155,\n")).collect();
        let text = format!("{HEAD}{rows}far,,,,Nowhere,,10.0.1.1,,400,10,400,10,\n");
        let (circuits, nodes) = (circuits(&text).unwrap().read, nodes(NETWORK).unwrap());
        let links = [Rate::from_bps(450_000_000), None];
        let (plans, notes) = plans(&circuits, &nodes, &BTreeSet::new(), links);
        // `AP` has 500 Mbit/s for guarantees of 1550, so `c0` keeps 50 of its 155. The link has 450
        // Mbit/s for 500 + 400, so `c0` and `far` are halved.
        assert_eq!(value(&plans, "c0", "download_guaranteed"), "25 Mbit/s");
        assert_eq!(value(&plans, "far", "download_guaranteed"), "200 Mbit/s");
        assert_eq!(value(&plans, "c0", "upload_guaranteed"), "10 Mbit/s");
        assert_eq!(value(&plans, "c0", "download_ceiling"), "155 Mbit/s");
        assert_eq!(value(&plans, "c0", "class"), "AP");
        assert_eq!(value(&plans, "far", "class"), "");
        assert_eq!(notes.len(), 4, "{notes:?}");
        assert!(notes[0].contains("no node `Nowhere`"), "{notes:?}");
        assert!(notes[1].contains("1550 Mbit/s are guaranteed below `AP`, which has 500"), "{notes:?}");
    }
}

//! Runs the verifier of the documentation with the deliveries that come as lines; says for each whether it was accepted.
mod webhook;

use std::collections::HashMap;
use std::io::stdin;

fn decoded(text: &str) -> String {
    String::from_utf8(hex::decode(text).unwrap()).unwrap()
}

fn main() {
    for line in stdin().lines() {
        let line = line.unwrap();
        let fields: Vec<&str> = line.split(' ').collect();
        let body = hex::decode(fields[2]).unwrap();
        let headers: HashMap<String, String> = fields[3..]
            .iter()
            .map(|field| field.split_once(':').unwrap())
            .map(|(name, value)| (name.to_lowercase(), decoded(value)))
            .collect();
        let header = |name: &str| headers.get(&name.to_lowercase()).map(String::as_str);
        match webhook::verify(&body, header, &decoded(fields[0]), fields[1].parse().unwrap()) {
            Ok(event) => println!("accepted {}", event["id"].as_str().unwrap()),
            Err(_) => println!("refused"),
        }
    }
}

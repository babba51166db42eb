//! scratch
use fairwire_oracle::ns2::{cell::*, judge::compare, ours, theirs::Ns2};
use rayon::prelude::*;
fn main(){ let a:Vec<String>=std::env::args().collect();
 let ns=Ns2::find(std::path::Path::new("/tmp/t5-out")).unwrap();
 for &(flows,mbps,buffer,rto) in &[(5u32,1u64,5u32,200u64),(20,1,10,200),(20,1,10,1000),(50,1,20,200),(50,1,20,1000),(100,20,150,200),(100,20,150,1000),(1,1,3,200),(1,10,2,200),(2,10,4,200)] {
  let classes:&'static [Class]=Box::leak(Box::new([Class{name:"t",kind:Kind::Tcp{recovery:Recovery::NewReno,binomial:None,min_rto_ms:rto},flows,access_ms:3}]));
  let c=Cell{name:"x",mbps,queue:Queue::DropTail,buffer,classes,duration_s:200,warm_up_s:20,seeds:1,is_quick:false};
  let k:u64=a[1].parse().unwrap();
  let r:Vec<_>=(1..=k).into_par_iter().map(|s|(ns.run(&c,s).unwrap(),ours::run(&c,s).unwrap())).collect();
  let (t,o):(Vec<_>,Vec<_>)=r.into_iter().unzip();
  println!("{flows} flows {mbps}M buf {buffer} rto {rto}: offered {} {}",t.iter().map(|x|x.offered).sum::<u64>()/k,o.iter().map(|x|x.offered).sum::<u64>()/k);
  for r in compare(&c,&t,&o){println!("   {:?} {:.0}±{:.0} {:.0}±{:.0} {:+.1}%",r.figure,r.ns2.mean,r.ns2.half_width_95.unwrap(),r.ours.mean,r.ours.half_width_95.unwrap(),100.*r.difference.unwrap_or(0.));}
 }}

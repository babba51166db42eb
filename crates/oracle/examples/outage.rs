//! scratch
use fairwire_core::*; use fairwire_core::scheduler::Fcfs; use fairwire_sim::*; use fairwire_tcp::{Config,Profile}; use std::ops::ControlFlow;
struct TailDrop; impl Dropper for TailDrop {}
struct Out{inner:Box<dyn Discipline>,period:u64,len:u64}
impl Discipline for Out{
 fn enqueue(&mut self,p:Packet,now:Time,s:&mut dyn Signals){ let t=now.ns(); println!("+ {:.6} {}",t as f64/1e9,p.len); if t>=self.period && t%self.period<self.len { println!("d {:.6}",t as f64/1e9); return s.dropped(p,Cause::Overflow);} self.inner.enqueue(p,now,s);}
 fn dequeue(&mut self,n:Time,s:&mut dyn Signals)->Option<Packet>{self.inner.dequeue(n,s)}
 fn ready_at(&self)->Option<Time>{self.inner.ready_at()} fn backlog(&self)->Backlog{self.inner.backlog()} fn inspect(&self,_:&mut dyn Probe){} }
fn main(){ let a:Vec<String>=std::env::args().collect(); let f=|i:usize|a[i].parse::<f64>().unwrap();
 let mut tcp=Config::new(Profile::Ns2In2006,512); tcp.min_rto=Duration::from_secs_f64(f(2));
 let rate=|b|Rate::from_bps(b).unwrap();
 let d=Out{inner:Box::new(Queue::new(Limit::packets(f(1) as u32),Fcfs,TailDrop)),period:(f(4)*1e9) as u64,len:(f(3)*1e9) as u64};
 let l=LinkPlan{name:"b".into(),rate:rate(10_000_000),delay:Duration::from_ms(10),discipline:Box::new(d)};
 let g=GroupPlan{name:"tcp".into(),source:Source::Bulk{tcp},forward:vec![],back:vec![],access_rate:rate(100_000_000),class:0,dscp:0,members:vec![Member{start:Duration::ZERO,access_delay:Duration::from_secs_f64(f(5))}]};
 let s=Settings{duration:Duration::from_secs(100),warm_up:Duration::from_secs(20),seed:Seed(1),tie_rule:TieRule::Fifo};
 fairwire_sim::run(Network::dumbbell(l,vec![g]),&s,&mut |_|ControlFlow::Continue(())).unwrap(); }

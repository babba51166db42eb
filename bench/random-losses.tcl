# One endless transfer that loses the packets named, over a link with room for all: what crates/tcp/tests/ns2.rs compares with.
#
#   ns random-losses.tcl PACKETS RECOVERY SECONDS
#
# PACKETS is a list of numbers, the SYN's being 0, counted as they reach the link of 10 Mbit/s, retransmissions too. RECOVERY is Tahoe,
# Reno, Newreno or Sack1. Prints ns-2's trace of the sender's link; its "+" lines have the time second and the packet's number eleventh.

if {[llength $argv] != 3} {
    puts stderr "random-losses.tcl: give a list of packets, Tahoe, Reno, Newreno or Sack1, and seconds"
    exit 2
}
lassign $argv packets recovery seconds
set kind [expr {$recovery eq "Sack1" ? "/Sack1" : ""}]

Agent/TCP set window_ 100000
Agent/TCP set packetSize_ 512
Agent/TCP set minrto_ 0.2

set ns [new Simulator]
foreach node {source left right sink} { set $node [$ns node] }
$ns duplex-link $source $left 100Mb 3ms DropTail
$ns duplex-link $left $right 10Mb 10ms DropTail
$ns duplex-link $right $sink 100Mb 3ms DropTail
foreach {from to} [list $source $left $left $right] { $ns queue-limit $from $to 100000 }
$ns trace-queue $source $left stdout

set tcp [new Agent/TCP[expr {$recovery eq "Tahoe" ? "" : "/$recovery"}]]
set receiver [new Agent/TCPSink$kind]
$ns attach-agent $source $tcp
$ns attach-agent $sink $receiver
$ns connect $tcp $receiver
set ftp [new Application/FTP]
$ftp attach-agent $tcp

set losses [new ErrorModel/List]
$losses droplist $packets
$ns lossmodel $losses $left $right

$ns at 0.0 "$ftp start"
$ns at $seconds { exit 0 }
$ns run

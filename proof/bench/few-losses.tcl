# One transfer that loses, or has marked, the packets named: what simulator/tcp/tests/it/repair.rs and ns2.rs compare with.
#
#   ns few-losses.tcl WINDOW PACKETS RECOVERY [drop|mark] [SECONDS] [MIN_RTO]
#
# PACKETS is a list of numbers, the SYN's being 0, counted as they reach the link of 10 Mbit/s, retransmissions too. RECOVERY is Tahoe,
# Reno, Newreno or Sack1. MIN_RTO is the shortest timeout in seconds, 1 unless given. Prints ns-2's trace of the
# sender's link for SECONDS, four unless given; its "+" lines have the time second and the packet's number eleventh. Segment n is number n + 1.

if {[llength $argv] < 3} {
    puts stderr "few-losses.tcl: give a window in segments, a list of packets, and Tahoe, Reno, Newreno or Sack1"
    exit 2
}
lassign $argv window packets recovery fate seconds min_rto
if {$seconds eq ""} { set seconds 4.0 }
if {$min_rto eq ""} { set min_rto 1 }
set kind [expr {$recovery eq "Sack1" ? "/Sack1" : ""}]

Agent/TCP set window_ $window
Agent/TCP set packetSize_ 512
Agent/TCP set minrto_ $min_rto
Agent/TCP set ecn_ [expr {$fate eq "mark"}]

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
$losses set markecn_ [expr {$fate eq "mark"}]
$losses droplist $packets
$ns lossmodel $losses $left $right

$ns at 0.0 "$ftp start"
$ns at $seconds { exit 0 }
$ns run

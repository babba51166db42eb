# One transfer over a drop-tail link of 10 Mbit/s: what simulator/sim/tests/it/ns2.rs compares with.
#
#   ns one-flow.tcl BUFFER WINDOW [RECOVERY]
#
# Packets and segments; WINDOW 0 for no limit; RECOVERY Tahoe, Reno, Newreno (the default) or Sack1.
#
# Prints the throughput in bit/s of wire bytes in order, the drops, and the retransmission timeouts, all from 20 s to 100 s.

if {[llength $argv] < 2} {
    puts stderr "one-flow.tcl: give a buffer in packets and a window in segments (0 for no limit)"
    exit 2
}
lassign $argv buffer window recovery
set sender [dict get {{} /Newreno Tahoe {} Reno /Reno Newreno /Newreno Sack1 /Sack1} $recovery]
set kind [expr {$recovery eq "Sack1" ? "/Sack1" : ""}]

remove-all-packet-headers
add-packet-header Flags IP TCP

Agent/TCP set window_ [expr {$window == 0 ? 100000 : $window}]
Agent/TCP set packetSize_ 512
Agent/TCP set minrto_ 1

set ns [new Simulator]
foreach node {source left right sink} { set $node [$ns node] }
$ns duplex-link $source $left 100Mb 3ms DropTail
$ns duplex-link $left $right 10Mb 10ms DropTail
$ns duplex-link $right $sink 100Mb 3ms DropTail
$ns queue-limit $source $left 100000
$ns queue-limit $left $right [expr {$buffer + 1}]  ;# ns-2 holds one packet less than its limit

set tcp [new Agent/TCP$sender]
set receiver [new Agent/TCPSink$kind]
$ns attach-agent $source $tcp
$ns attach-agent $sink $receiver
$ns connect $tcp $receiver
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set monitor [$ns monitor-queue $left $right ""]

$ns at 0.0 "$ftp start"
$ns at 20.0 { set bytes [$receiver set bytes_]; set drops [$monitor set pdrops_]; set timeouts [$tcp set nrexmit_] }
$ns at 100.0 {
    puts "[expr {8.0 * ([$receiver set bytes_] - $bytes) / 80}] [expr {[$monitor set pdrops_] - $drops}] [expr {[$tcp set nrexmit_] - $timeouts}]"
    exit 0
}
$ns run

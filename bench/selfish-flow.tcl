# The selfish flow in ns-2: nine NewReno transfers against one 5 Mbit/s CBR flow on a 10 Mbit/s link.
#
#   ns selfish-flow.tcl ?-queue red|drop-tail? ?-duration SECONDS? ?-warm-up SECONDS? ?-seed NUMBER?
#
# The same contest as scenarios/selfish-flow.toml, a yardstick for our results.
# Prints one fact a line on standard output: "flow NAME throughput_bps VALUE" and "link NAME VALUE".
# All counts are of the time from the warm-up to the end. Throughput is in wire bytes that arrived in order, once.

# ---- What was asked for ----

array set asked {-queue red -duration 100 -warm-up 20 -seed 1}

proc refuse {message} {
    puts stderr "selfish-flow.tcl: $message"
    exit 2
}

if {[llength $argv] % 2} {
    refuse "the option `[lindex $argv end]` has no value"
}
foreach {option value} $argv {
    if {![info exists asked($option)]} {
        refuse "unknown option `$option`; allowed: [lsort [array names asked]]"
    }
    set asked($option) $value
}
foreach option {-duration -warm-up} {
    if {![string is double -strict $asked($option)] || $asked($option) < 0} {
        refuse "$option is `$asked($option)`; allowed: seconds, from 0"
    }
}
if {$asked(-duration) <= $asked(-warm-up)} {
    refuse "-duration $asked(-duration) is not longer than -warm-up $asked(-warm-up)"
}
if {![string is integer -strict $asked(-seed)] || $asked(-seed) < 1} {
    refuse "-seed is `$asked(-seed)`; allowed: a whole number from 1 (ns-2 takes 0 for the time of day)"
}

# ---- Constants of the scenario ----

set tcp_flows 9
set buffer_packets 780
set tcp_payload_bytes 512  ;# ns-2 adds 40 bytes of header: 552 on the wire
set cbr_packet_bytes 512   ;# on the wire: ns-2 adds nothing to UDP

# Only the headers in use, so that ns-2 is as fast as it can be: it clears all of them for each packet.
# RTP must be among them: without it UDP packets come out with a wrong size.
remove-all-packet-headers
add-packet-header Flags IP TCP RTP

ns-random $asked(-seed)

Agent/TCP set window_ 10000
Agent/TCP set packetSize_ $tcp_payload_bytes
Agent/TCP set minrto_ 1

# Thresholds in packets: ns-2 would otherwise read limit and thresholds as multiples of 500 bytes.
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set thresh_ [expr {$buffer_packets / 4}]
Queue/RED set maxthresh_ [expr {$buffer_packets / 2}]
Queue/RED set linterm_ 50  ;# 1 / max_p, max_p = 0.02
Queue/RED set q_weight_ 0.002
Queue/RED set gentle_ true
Queue/RED set adaptive_ 0
Queue/RED set mean_pktsize_ [expr {$tcp_payload_bytes + 40}]

# ---- Topology: own access links for each flow, one bottleneck; round trip 2 * (3 + 10 + 3) ms ----

set ns [new Simulator]
set entry [$ns node]
set exit_ [$ns node]

switch -- $asked(-queue) {
    red {
        set discipline RED
        set limit $buffer_packets
    }
    drop-tail {
        set discipline DropTail
        set limit [expr {$buffer_packets + 1}]  ;# its limit counts one more than it holds
    }
    default {
        refuse "-queue is `$asked(-queue)`; allowed: red, drop-tail"
    }
}
$ns simplex-link $entry $exit_ 10Mb 10ms $discipline
$ns simplex-link $exit_ $entry 10Mb 10ms DropTail
$ns queue-limit $entry $exit_ $limit
$ns queue-limit $exit_ $entry 10000

# One flow's own links; uncongested, so their queues only need to be long enough.
proc join_flow {} {
    global ns entry exit_
    set source [$ns node]
    set sink [$ns node]
    foreach {a b} [list $source $entry $exit_ $sink] {
        $ns duplex-link $a $b 100Mb 3ms DropTail
        $ns queue-limit $a $b 10000
        $ns queue-limit $b $a 10000
    }
    return [list $source $sink]
}

# ---- Flows, each of which starts at a random moment of the first second ----

proc start {application} {
    global ns
    $ns at [expr {[ns-random] / 2147483647.0}] "$application start"
}

for {set i 1} {$i <= $tcp_flows} {incr i} {
    foreach {source sink} [join_flow] break
    set tcp [new Agent/TCP/Newreno]
    set receiver(tcp.$i) [new Agent/TCPSink]
    $ns attach-agent $source $tcp
    $ns attach-agent $sink $receiver(tcp.$i)
    $ns connect $tcp $receiver(tcp.$i)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    start $ftp
}

foreach {source sink} [join_flow] break
set udp [new Agent/UDP]
$udp set packetSize_ $cbr_packet_bytes
set receiver(cbr.1) [new Agent/LossMonitor]
$ns attach-agent $source $udp
$ns attach-agent $sink $receiver(cbr.1)
$ns connect $udp $receiver(cbr.1)
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ $cbr_packet_bytes
$cbr set rate_ 5Mb
$cbr set random_ 0  ;# no dither, as in the scenario
$cbr attach-agent $udp
start $cbr

# ---- Measurement ----

set bottleneck [$ns monitor-queue $entry $exit_ ""]

proc bytes {agent} {
    return [$agent set bytes_]
}

proc begin_measuring {} {
    global receiver bottleneck bytes_before count_before
    foreach name [array names receiver] {
        set bytes_before($name) [bytes $receiver($name)]
    }
    foreach count {parrivals_ pdepartures_ pdrops_} {
        set count_before($count) [$bottleneck set $count]
    }
}

proc finish {} {
    global receiver bottleneck bytes_before count_before asked
    set seconds [expr {$asked(-duration) - $asked(-warm-up)}]
    foreach name [lsort [array names receiver]] {
        set bits [expr {8.0 * ([bytes $receiver($name)] - $bytes_before($name))}]
        puts "flow $name throughput_bps [format %.1f [expr {$bits / $seconds}]]"
    }
    foreach {label count} {packets_in parrivals_ packets_out pdepartures_ drops pdrops_} {
        puts "link $label [format %.0f [expr {[$bottleneck set $count] - $count_before($count)}]]"
    }
    exit 0
}

$ns at $asked(-warm-up) begin_measuring
$ns at $asked(-duration) finish
$ns run

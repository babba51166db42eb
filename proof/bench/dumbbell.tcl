# Many NewReno transfers over one RED link, for `make bench-peers`: ns-2's side of proof/suite/peers.
#
#   ns dumbbell.tcl ?-flows N? ?-cbr 0|1? ?-rate BIT/S? ?-buffer PACKETS? ?-duration SECONDS? ?-starts SECONDS?
#                   ?-layout full|lean? ?-seed NUMBER?
#
# `full`: each flow has 100 Mbit/s, 2 ms links of its own at both ends of a 12 ms link. `lean`: all senders stand at one end of a
# 16 ms link and all receivers at the other. Flows start at random moments before -starts.
# Prints one fact a line on standard output: "link NAME VALUE", "tcp throughput_bps VALUE"; nothing is left out as a warm-up.

array set asked {-flows 9 -cbr 0 -rate 10000000 -buffer 780 -duration 10 -starts 1 -layout full -seed 1}

proc refuse {message} {
    puts stderr "dumbbell.tcl: $message"
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
foreach option {-flows -cbr -buffer -seed} {
    if {![string is integer -strict $asked($option)] || $asked($option) < 0} {
        refuse "$option is `$asked($option)`; allowed: a whole number, from 0"
    }
}
foreach option {-rate -duration -starts} {
    if {![string is double -strict $asked($option)] || $asked($option) < 0} {
        refuse "$option is `$asked($option)`; allowed: a number, from 0"
    }
}
if {$asked(-layout) ni {full lean}} {
    refuse "-layout is `$asked(-layout)`; allowed: full, lean"
}

# Only the headers in use, so that ns-2 is as fast as it can be: it clears all of them for each packet.
# RTP must be among them: without it UDP packets come out with a wrong size.
remove-all-packet-headers
add-packet-header Flags IP TCP RTP

ns-random $asked(-seed)

Agent/TCP set window_ 1000000
Agent/TCP set packetSize_ 472
Agent/TCP set minrto_ 0.2
Agent/TCP set windowInit_ 2

# Thresholds in packets: ns-2 would otherwise read limit and thresholds as multiples of 500 bytes.
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set thresh_ [expr {$asked(-buffer) / 4}]
Queue/RED set maxthresh_ [expr {$asked(-buffer) / 2}]
Queue/RED set linterm_ 50  ;# 1 / max_p, max_p = 0.02
Queue/RED set q_weight_ 0.002
Queue/RED set gentle_ false
Queue/RED set adaptive_ 0
Queue/RED set mean_pktsize_ 512

# Routes are written by hand: ns-2's own computation takes time and memory that grow with the square of the nodes.
set ns [new Simulator]
$ns rtproto Manual
set entry [$ns node]
set exit_ [$ns node]
set middle [expr {$asked(-layout) eq "full" ? "12ms" : "16ms"}]
$ns simplex-link $entry $exit_ $asked(-rate) $middle RED
$ns simplex-link $exit_ $entry $asked(-rate) $middle DropTail
$ns queue-limit $entry $exit_ $asked(-buffer)
$ns queue-limit $exit_ $entry 1000000
[$entry get-module Manual] add-route-to-adj-node -default $exit_
[$exit_ get-module Manual] add-route-to-adj-node -default $entry

# A node with a link of its own to `router`; uncongested, so its queue only needs to be long enough.
proc leaf {router} {
    global ns
    set node [$ns node]
    $ns duplex-link $node $router 100Mb 2ms DropTail
    $ns queue-limit $node $router 1000000
    $ns queue-limit $router $node 1000000
    [$node get-module Manual] add-route-to-adj-node -default $router
    [$router get-module Manual] add-route-to-adj-node $node
    return $node
}

proc ends {} {
    global asked entry exit_
    if {$asked(-layout) eq "lean"} {
        return [list $entry $exit_]
    }
    return [list [leaf $entry] [leaf $exit_]]
}

proc start {application} {
    global ns asked
    $ns at [expr {$asked(-starts) * ([ns-random] / 2147483647.0)}] "$application start"
}

for {set i 0} {$i < $asked(-flows)} {incr i} {
    foreach {source sink} [ends] break
    set tcp [new Agent/TCP/Newreno]
    set receiver [new Agent/TCPSink]
    $ns attach-agent $source $tcp
    $ns attach-agent $sink $receiver
    $ns connect $tcp $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    lappend receivers $receiver
    start $ftp
}

for {set i 0} {$i < $asked(-cbr)} {incr i} {
    foreach {source sink} [ends] break
    set udp [new Agent/UDP]
    $udp set packetSize_ 512
    set null [new Agent/Null]
    $ns attach-agent $source $udp
    $ns attach-agent $sink $null
    $ns connect $udp $null
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ 512
    $cbr set rate_ 5Mb
    $cbr set random_ 0
    $cbr attach-agent $udp
    start $cbr
}

set bottleneck [$ns monitor-queue $entry $exit_ ""]

proc finish {} {
    global receivers bottleneck asked
    set bytes 0
    foreach receiver $receivers {
        set bytes [expr {$bytes + [$receiver set bytes_]}]
    }
    puts "tcp throughput_bps [format %.1f [expr {8.0 * $bytes / $asked(-duration)}]]"
    puts "link packets_out [format %.0f [$bottleneck set pdepartures_]]"
    puts "link drops [format %.0f [$bottleneck set pdrops_]]"
    exit 0
}

$ns at $asked(-duration) finish
$ns run

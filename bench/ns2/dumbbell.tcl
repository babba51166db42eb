# A dumbbell in ns-2: what fairwire-oracle-ns2 holds our simulator against. See docs/validation.md.
#
#   ns dumbbell.tcl -rate BPS -queue NAME -limit NUMBER -duration SECONDS -warm-up SECONDS -seed NUMBER \
#       ?-delay SECONDS? ?-set {NAME VALUE ...}? -class {NAME KIND FLOWS ACCESS_DELAY NAME VALUE ...} ...
#
# -queue is one of DropTail, RED, RED/RIO, REM, DRR, SFQ; -limit is its limit_ (DRR: its blimit_, bytes), as ns-2 counts it.
# -set gives further variables of the queue. KIND is tahoe, reno, newreno, sack or cbr; what follows the delay of the access link
# are variables of the TCP, or of the CBR source: its rate_ (bit/s) and packetSize_ (bytes on the wire). Each class has the
# flow identifier of its place, from 0 on: RED/RIO takes 0 as out of profile.
#
# Prints one fact a line: "class NAME throughput_bps VALUE", "class NAME drops VALUE", "link NAME VALUE". All are of the time
# from the warm-up to the end. Throughput is in wire bytes that arrived in order, once, over all flows of the class.

# ---- What was asked for ----

array set asked {-delay 0.01 -set {}}
set needed {-rate -queue -limit -duration -warm-up -seed}
set classes {}

proc refuse {message} {
    puts stderr "dumbbell.tcl: $message"
    exit 2
}

if {[llength $argv] % 2} {
    refuse "the option `[lindex $argv end]` has no value"
}
foreach {option value} $argv {
    if {$option eq "-class"} {
        lappend classes $value
    } elseif {$option in $needed || [info exists asked($option)]} {
        set asked($option) $value
    } else {
        refuse "unknown option `$option`; allowed: [concat $needed [lsort [array names asked]] -class]"
    }
}
foreach option $needed {
    if {![info exists asked($option)]} { refuse "$option is missing" }
}
if {![llength $classes]} { refuse "there is no -class" }
if {$asked(-duration) <= $asked(-warm-up)} { refuse "the run ends within its warm-up" }
if {$asked(-queue) ni {DropTail RED RED/RIO REM DRR SFQ}} { refuse "-queue is `$asked(-queue)`" }

# ---- Constants ----

set access_rate 100Mb
set tcp_payload_bytes 512  ;# ns-2 adds 40 bytes of header: 552 on the wire
set long 100000            ;# packets: room in queues that are never to overflow

# Only the headers in use, so that ns-2 is as fast as it can be. RTP must be among them, or UDP packets get a wrong size.
remove-all-packet-headers
add-packet-header Flags IP TCP RTP

ns-random $asked(-seed)

Agent/TCP set window_ 100000
Agent/TCP set packetSize_ $tcp_payload_bytes

# Thresholds in packets: RED would otherwise read limit and thresholds as multiples of 500 bytes.
foreach red {RED RED/RIO} {
    Queue/$red set bytes_ false
    Queue/$red set queue_in_bytes_ false
    Queue/$red set adaptive_ 0
    Queue/$red set mean_pktsize_ [expr {$tcp_payload_bytes + 40}]
}
Queue/REM set mean_pktsize_ [expr {$tcp_payload_bytes + 40}]
Queue/RED/RIO set priority_method_ 1  ;# the flow identifier tells the colour

foreach {name value} $asked(-set) {
    Queue/$asked(-queue) set $name $value
}

# ---- The bottleneck. Routes are set by hand: ns-2's own take minutes for a thousand nodes ----

set ns [new Simulator]
$ns rtproto Manual
set entry [$ns node]
set exit_ [$ns node]
$ns simplex-link $entry $exit_ $asked(-rate) $asked(-delay) $asked(-queue)
$ns simplex-link $exit_ $entry $asked(-rate) $asked(-delay) DropTail
$ns queue-limit $exit_ $entry $long
if {$asked(-queue) eq "DRR"} {
    [[$ns link $entry $exit_] queue] set blimit_ $asked(-limit)
} else {
    $ns queue-limit $entry $exit_ $asked(-limit)
}

proc default_route {node next} {
    [$node get-module "Manual"] add-route-to-adj-node -default $next
}
default_route $entry $exit_
default_route $exit_ $entry

# One flow's own links, never congested.
proc join_flow {delay} {
    global ns entry exit_ access_rate long
    set source [$ns node]
    set sink [$ns node]
    foreach {host router} [list $source $entry $sink $exit_] {
        $ns duplex-link $host $router $access_rate $delay DropTail
        $ns queue-limit $host $router $long
        $ns queue-limit $router $host $long
        default_route $host $router
        [$router get-module "Manual"] add-route-to-adj-node $host
    }
    return [list $source $sink]
}

# ---- Flows, each of which starts at a random moment of the first second ----

array set sender_of {tahoe TCP reno TCP/Reno newreno TCP/Newreno sack TCP/Sack1}
set uniform [new RandomVariable/Uniform]
$uniform set min_ 0.0
$uniform set max_ 1.0

proc connect_agents {from to source sink fid} {
    global ns
    $from set fid_ $fid
    $to set fid_ $fid
    $ns attach-agent $source $from
    $ns attach-agent $sink $to
    $ns connect $from $to
}

proc bulk {kind source sink fid variables} {
    global sender_of
    set tcp [new Agent/$sender_of($kind)]
    foreach {name value} $variables { $tcp set $name $value }
    set receiver [new Agent/TCPSink[expr {$kind eq "sack" ? "/Sack1" : ""}]]
    connect_agents $tcp $receiver $source $sink $fid
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    return [list $ftp $receiver]
}

# UDP adds no header in ns-2: packetSize_ is what is on the wire, and the agent must not cut it into smaller ones.
proc constant {source sink fid variables} {
    set udp [new Agent/UDP]
    $udp set packetSize_ 1500
    set receiver [new Agent/LossMonitor]
    connect_agents $udp $receiver $source $sink $fid
    set cbr [new Application/Traffic/CBR]
    $cbr set random_ 0
    foreach {name value} $variables { $cbr set $name $value }
    $cbr attach-agent $udp
    return [list $cbr $receiver]
}

set fid -1
foreach class $classes {
    set variables [lassign $class name kind flows delay]
    incr fid
    set receivers($name) {}
    for {set i 0} {$i < $flows} {incr i} {
        lassign [join_flow $delay] source sink
        if {$kind eq "cbr"} {
            lassign [constant $source $sink $fid $variables] application receiver
        } else {
            lassign [bulk $kind $source $sink $fid $variables] application receiver
        }
        lappend receivers($name) $receiver
        $ns at [$uniform value] "$application start"
    }
}

# ---- Measurement ----

set monitor [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $entry $exit_] $monitor

proc bytes_of {name} {
    global receivers
    set sum 0.0
    foreach receiver $receivers($name) { set sum [expr {$sum + [$receiver set bytes_]}] }
    return $sum
}

proc counters {} {
    global classes monitor
    set counted(in) [$monitor set parrivals_]
    set counted(out) [$monitor set pdepartures_]
    set counted(drops) [$monitor set pdrops_]
    set fid 0
    foreach class $classes {
        set name [lindex $class 0]
        set flow [[$monitor classifier] lookup auto 0 0 $fid]
        set counted($name,drops) [expr {$flow eq "" ? 0 : [$flow set pdrops_]}]
        set counted($name,bytes) [bytes_of $name]
        incr fid
    }
    return [array get counted]
}

proc finish {} {
    global asked classes before
    array set from $before
    array set to [counters]
    set seconds [expr {$asked(-duration) - $asked(-warm-up)}]
    foreach class $classes {
        set name [lindex $class 0]
        set bits [expr {8.0 * ($to($name,bytes) - $from($name,bytes))}]
        puts "class $name throughput_bps [format %.1f [expr {$bits / $seconds}]]"
        puts "class $name drops [format %.0f [expr {$to($name,drops) - $from($name,drops)}]]"
    }
    foreach {label name} {packets_in in packets_out out drops drops} {
        puts "link $label [format %.0f [expr {$to($name) - $from($name)}]]"
    }
    exit 0
}

$ns at $asked(-warm-up) { set before [counters] }
$ns at $asked(-duration) finish
$ns run

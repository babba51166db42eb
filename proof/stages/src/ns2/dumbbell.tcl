# A dumbbell in ns-2, by words that the stage `ns2` makes of a scenario. See docs/stages.md and docs/validation.md.
#
#   ns dumbbell.tcl -rate BPS -rates {SECONDS BPS ...} -delay SECONDS -loss PART -queue NAME -set {NAME VALUE ...} -duration SECONDS -warm-up SECONDS -seed NUMBER \
#       -group {NAME KIND FID ACCESS_BPS {NAME VALUE ...} {{START ACCESS_DELAY} ...}} ...
#
# -rates are those that the link has later, and from when on; a packet that is being sent goes on at its own.
# -loss is the part of the packets that is lost behind the link, each by itself; of acknowledgements none is.
# -queue is a class below Queue, and -set gives its variables, its limit among them. KIND is tahoe, reno, newreno, sack, cbr, or
# linux-NAME for an algorithm of Linux, whose parameters are the variables that begin with ca_; what
# stands in braces behind the rate of the access links are variables of the TCP, or of the CBR source: its rate_ (bit/s) and packetSize_
# (bytes on the wire). Then come the flows: when each starts, and the delay of its access links, in seconds. FID is the flow
# identifier of all of them: RED/RIO takes 0 as out of profile.
#
# Prints `at SECONDS` as time passes; and at the end, of the time from the warm-up on,
#   flow NAME.NUMBER packets_in COUNT drops COUNT bytes COUNT
#   link packets_in COUNT packets_out COUNT bytes_out COUNT mean_packets NUMBER mean_bytes NUMBER lost COUNT
# `bytes` are those on the wire that arrived in order, once. It ends when its standard input does: then nobody waits for it.

# ---- What was asked for ----

set needed {-rate -rates -delay -loss -queue -set -duration -warm-up -seed}
set groups {}

proc refuse {message} {
    puts stderr "dumbbell.tcl: $message"
    exit 2
}

if {[llength $argv] % 2} {
    refuse "the option `[lindex $argv end]` has no value"
}
foreach {option value} $argv {
    if {$option eq "-group"} {
        lappend groups $value
    } elseif {$option in $needed} {
        set asked($option) $value
    } else {
        refuse "unknown option `$option`; allowed: [concat $needed -group]"
    }
}
foreach option $needed {
    if {![info exists asked($option)]} { refuse "$option is missing" }
}
if {![llength $groups]} { refuse "there is no -group" }

# ---- Constants ----

set long 100000  ;# packets: room in queues that are never to overflow

# Only the headers in use, so that ns-2 is as fast as it can be. RTP must be among them, or UDP packets get a wrong size.
remove-all-packet-headers
add-packet-header Flags IP TCP RTP

ns-random $asked(-seed)

Agent/TCP set window_ $long

foreach {name value} $asked(-set) {
    Queue/$asked(-queue) set $name $value
}

# Its hash is the address of the source modulo the number of buckets: with one for each node, nobody shares.
set flows 0
foreach group $groups { incr flows [llength [lindex $group 5]] }
Queue/DRR set buckets_ [expr {2 * $flows + 2}]

# ---- The bottleneck. Routes are set by hand: ns-2's own take minutes for a thousand nodes ----

set ns [new Simulator]
$ns rtproto Manual
set entry [$ns node]
set exit_ [$ns node]
$ns simplex-link $entry $exit_ $asked(-rate) $asked(-delay) $asked(-queue)
foreach {at bps} $asked(-rates) {
    $ns at $at "[[$ns link $entry $exit_] link] set bandwidth_ $bps"
}
# A wire that loses packets, behind the link: what is lost has been sent.
set lost ""
if {$asked(-loss) > 0} {
    set lossy [new ErrorModel]
    $lossy unit pkt
    $lossy set rate_ $asked(-loss)
    $lossy ranvar [new RandomVariable/Uniform]
    set lost [new Agent/LossMonitor] ;# counts what comes to it
    $lossy drop-target $lost
    set wire [[$ns link $entry $exit_] link]
    $lossy target [$wire target]
    $wire target $lossy
}
$ns simplex-link $exit_ $entry $asked(-rate) $asked(-delay) DropTail
$ns queue-limit $exit_ $entry $long

proc default_route {node next} {
    [$node get-module "Manual"] add-route-to-adj-node -default $next
}
default_route $entry $exit_
default_route $exit_ $entry

# One flow's own links, never congested.
proc join_flow {rate delay} {
    global ns entry exit_ long
    set source [$ns node]
    set sink [$ns node]
    foreach {host router} [list $source $entry $sink $exit_] {
        $ns duplex-link $host $router $rate $delay DropTail
        $ns queue-limit $host $router $long
        $ns queue-limit $router $host $long
        default_route $host $router
        [$router get-module "Manual"] add-route-to-adj-node $host
    }
    return [list $source $sink]
}

# ---- Flows ----

array set sender_of {tahoe TCP reno TCP/Reno newreno TCP/Newreno sack TCP/Sack1}

proc connect_agents {from to source sink fid} {
    global ns
    $from set fid_ $fid
    $to set fid_ $fid
    $ns attach-agent $source $from
    $ns attach-agent $sink $to
    $ns connect $from $to
}

proc bulk {kind source sink fid variables} {
    global sender_of ns
    set is_linux [regexp {^linux-(.*)} $kind all algorithm]
    set tcp [new Agent/[expr {$is_linux ? "TCP/Linux" : $sender_of($kind)}]]
    set receiver [new Agent/TCPSink[expr {$kind eq "sack" || $is_linux ? "/Sack1" : ""}]]
    if {$is_linux} {
        $tcp set timestamps_ true
        $receiver set ts_echo_rfc1323_ true
        $ns at 0 "$tcp select_ca $algorithm"
    }
    foreach {name value} $variables {
        if {[regexp {^ca_(.*)} $name all parameter]} {
            $ns at 0 "$tcp set_ca_param $algorithm $parameter $value"
        } else {
            $tcp set $name $value
        }
    }
    connect_agents $tcp $receiver $source $sink $fid
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    return [list $ftp $receiver]
}

# UDP adds no header in ns-2: packetSize_ is what is on the wire, and the agent must not cut it into smaller ones.
proc constant {source sink fid variables} {
    set udp [new Agent/UDP]
    $udp set packetSize_ 65535
    set receiver [new Agent/LossMonitor]
    connect_agents $udp $receiver $source $sink $fid
    set cbr [new Application/Traffic/CBR]
    foreach {name value} $variables { $cbr set $name $value }
    $cbr attach-agent $udp
    return [list $cbr $receiver]
}

# Each flow: its name, its receiver, and where its packets come from and go to.
set all {}
foreach group $groups {
    lassign $group name kind fid rate variables members
    set number 0
    foreach member $members {
        lassign $member start delay
        lassign [join_flow $rate $delay] source sink
        if {$kind eq "cbr"} {
            lassign [constant $source $sink $fid $variables] application receiver
        } else {
            lassign [bulk $kind $source $sink $fid $variables] application receiver
        }
        lappend all [list $name.[incr number] $receiver [$source id] [$sink id] $fid]
        $ns at $start "$application start"
    }
}

# ---- Measurement ----

set monitor [$ns makeflowmon SrcDestFid [expr {$flows + 1}]]
$ns attach-fmon [$ns link $entry $exit_] $monitor
foreach unit {pkts bytes} {
    set waiting($unit) [new Integrator]
    $monitor set-$unit-integrator $waiting($unit)
}

proc counters {} {
    global ns all monitor waiting lost
    foreach {count variable} {packets_in parrivals_ packets_out pdepartures_ bytes_out bdepartures_} {
        set counted($count) [$monitor set $variable]
    }
    foreach unit {pkts bytes} {
        $waiting($unit) newpoint [$ns now] [$waiting($unit) set lasty_]
        set counted($unit) [$waiting($unit) set sum_]
    }
    foreach flow $all {
        lassign $flow name receiver source sink fid
        set met [[$monitor classifier] lookup auto $source $sink $fid]
        set counted($name,in) [expr {$met eq "" ? 0 : [$met set parrivals_]}]
        set counted($name,drops) [expr {$met eq "" ? 0 : [$met set pdrops_]}]
        set counted($name,bytes) [expr {wide([$receiver set bytes_])}]
    }
    set counted(lost) [expr {$lost eq "" ? 0 : [$lost set npkts_]}]
    return [array get counted]
}

proc finish {} {
    global asked all before
    array set from $before
    array set to [counters]
    foreach name [array names to] { set since($name) [expr {$to($name) - $from($name)}] }
    foreach flow $all {
        set name [lindex $flow 0]
        puts "flow $name packets_in [format %.0f $since($name,in)] drops [format %.0f $since($name,drops)]\
            bytes [format %.0f $since($name,bytes)]"
    }
    set seconds [expr {$asked(-duration) - $asked(-warm-up)}]
    puts "link packets_in [format %.0f $since(packets_in)] packets_out [format %.0f $since(packets_out)]\
        bytes_out [format %.0f $since(bytes_out)] mean_packets [expr {$since(pkts) / $seconds}]\
        mean_bytes [expr {$since(bytes) / $seconds}] lost [format %.0f $since(lost)]"
    exit 0
}

# Says how far it is, and ends when nobody waits any more.
proc look {} {
    global ns
    puts "at [$ns now]"
    flush stdout
    read stdin
    if {[eof stdin]} { exit 1 }
}
fconfigure stdin -blocking 0
for {set step 1} {$step < 100} {incr step} {
    $ns at [expr {$asked(-duration) * $step / 100.0}] look
}

$ns at $asked(-warm-up) { set before [counters] }
$ns at $asked(-duration) finish
$ns run

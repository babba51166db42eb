// Many NewReno transfers over one RED link, for `make bench-peers`: ns-3's side of proof/suite/peers.
//
//   g++ -O3 -o dumbbell dumbbell.cc -lns3-applications -lns3-internet -lns3-point-to-point -lns3-traffic-control -lns3-network -lns3-core
//   ./dumbbell --flows=9 --cbr=1 --duration=10      # --help tells the rest
//
// With --hosts=0 each flow has 100 Mbit/s, 2 ms links of its own at both ends of a 12 ms link; with --hosts=K the flows are dealt out
// over K pairs of hosts, whose links are faster in proportion. That is the faster layout: ns-3 looks through all routes and all
// of a node's sockets for each packet.
// SACK is on: without it, ns-3's NewReno sends a tenth of its packets for nothing.
//
// Prints one fact a line on standard output: "link NAME VALUE", "tcp throughput_bps VALUE", "events VALUE".

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;

struct Asked
{
    uint32_t flows = 9;
    uint32_t cbr = 0;
    uint32_t hosts = 0;
    uint32_t buffer = 780;
    double rate = 10e6;
    double duration = 10;
    double starts = 1;
};

// Bytes that an application hands to its TCP ahead: four times a flow's share of the buffer and of what is on the way, so that it never
// limits a flow for long. A sender fills it at once, which takes memory and time.
static uint32_t BytesAhead(const Asked& asked)
{
    double onTheWay = asked.rate / 8 * 0.032 + asked.buffer * 512.0;
    return std::max(65536u, uint32_t(4 * onTheWay / asked.flows));
}

static void SetConstants(const Asked& asked)
{
    GlobalValue::Bind("SchedulerType", StringValue("ns3::PriorityQueueScheduler")); // the fastest of its schedulers here
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(472));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BytesAhead(asked)));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));
}

// The network, and what is needed to hang another pair of hosts on it.
class Dumbbell
{
  public:
    explicit Dumbbell(const Asked& asked)
        : m_asked(asked)
    {
        m_stack.SetIpv6StackInstall(false);
        m_routers.Create(2);
        m_stack.Install(m_routers);
        m_addresses.SetBase("10.0.0.0", "255.255.255.252");
        LayBottleneck();
    }

    // A pair of hosts for `flows` flows; returns its number.
    size_t AddPair(uint32_t flows)
    {
        m_senders.push_back(AddHost(m_routers.Get(0), flows).first);
        auto receiver = AddHost(m_routers.Get(1), flows);
        m_receivers.push_back(receiver.first);
        m_receiverAddresses.push_back(receiver.second);
        return m_senders.size() - 1;
    }

    Ptr<Node> Sender(size_t pair) const { return m_senders[pair]; }
    Ptr<Node> Receiver(size_t pair) const { return m_receivers[pair]; }
    Ipv4Address ReceiverAddress(size_t pair) const { return m_receiverAddresses[pair]; }
    const QueueDisc::Stats& Stats() const { return m_red->GetStats(); }

  private:
    static std::string Bps(double rate) { return std::to_string(uint64_t(rate)) + "bps"; }

    static void SetDefaultRoute(Ptr<Node> node, Ipv4Address gateway, uint32_t interface)
    {
        Ipv4StaticRoutingHelper routing;
        routing.GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(gateway, interface);
    }

    void LayBottleneck()
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(Bps(m_asked.rate)));
        link.SetChannelAttribute("Delay", StringValue("12ms"));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p")); // so that packets wait under RED
        NetDeviceContainer devices = link.Install(m_routers);
        TrafficControlHelper control;
        control.SetRootQueueDisc("ns3::RedQueueDisc",
                                 "MaxSize", StringValue(std::to_string(m_asked.buffer) + "p"),
                                 "MinTh", DoubleValue(m_asked.buffer / 4),
                                 "MaxTh", DoubleValue(m_asked.buffer / 2),
                                 "LInterm", DoubleValue(50),
                                 "QW", DoubleValue(0.002),
                                 "Gentle", BooleanValue(false),
                                 "MeanPktSize", UintegerValue(512),
                                 "LinkBandwidth", StringValue(Bps(m_asked.rate)),
                                 "LinkDelay", StringValue("12ms"));
        m_red = control.Install(devices.Get(0)).Get(0);
        TrafficControlHelper plain;
        plain.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("1000000p"));
        plain.Install(devices.Get(1));
        Ipv4InterfaceContainer ends = m_addresses.Assign(devices);
        m_addresses.NewNetwork();
        SetDefaultRoute(m_routers.Get(0), ends.GetAddress(1), 1);
        SetDefaultRoute(m_routers.Get(1), ends.GetAddress(0), 1);
    }

    std::pair<Ptr<Node>, Ipv4Address> AddHost(Ptr<Node> router, uint32_t flows)
    {
        Ptr<Node> host = CreateObject<Node>();
        m_stack.Install(host);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(Bps(100e6 * flows)));
        link.SetChannelAttribute("Delay", StringValue("2ms"));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
        NetDeviceContainer devices = link.Install(router, host);
        Ipv4InterfaceContainer ends = m_addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices); // nothing waits here: one layer less for each packet
        m_addresses.NewNetwork();
        SetDefaultRoute(host, ends.GetAddress(0), 1);
        return {host, ends.GetAddress(1)};
    }

    const Asked& m_asked;
    InternetStackHelper m_stack;
    Ipv4AddressHelper m_addresses;
    NodeContainer m_routers;
    std::vector<Ptr<Node>> m_senders;
    std::vector<Ptr<Node>> m_receivers;
    std::vector<Ipv4Address> m_receiverAddresses;
    Ptr<QueueDisc> m_red;
};

// Flow number `i`: a transfer without end, or five megabits a second of UDP.
static ApplicationContainer AddFlow(Dumbbell& network, size_t pair, uint32_t i, bool isTcp, Time start)
{
    const char* protocol = isTcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    // 10 000 ports for receivers, far from those that senders draw.
    uint16_t port = 20000 + i % 10000;
    InetSocketAddress there(network.ReceiverAddress(pair), port);
    PacketSinkHelper sink(protocol, InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer receiver = sink.Install(network.Receiver(pair));
    ApplicationContainer sender;
    if (isTcp)
    {
        BulkSendHelper bulk(protocol, there);
        bulk.SetAttribute("SendSize", UintegerValue(472));
        sender = bulk.Install(network.Sender(pair));
    }
    else
    {
        OnOffHelper cbr(protocol, there);
        cbr.SetConstantRate(DataRate(uint64_t(5e6 * 484 / 512)), 484); // 28 B of headers come on top
        sender = cbr.Install(network.Sender(pair));
    }
    sender.Start(start);
    return receiver;
}

int main(int argc, char* argv[])
{
    Asked asked;
    CommandLine line(__FILE__);
    line.AddValue("flows", "TCP flows", asked.flows);
    line.AddValue("cbr", "UDP flows of 5 Mbit/s", asked.cbr);
    line.AddValue("hosts", "pairs of hosts that share the flows; 0 for one pair each", asked.hosts);
    line.AddValue("buffer", "packets", asked.buffer);
    line.AddValue("rate", "of the shared link, bit/s", asked.rate);
    line.AddValue("duration", "simulated seconds", asked.duration);
    line.AddValue("starts", "flows start at random before this many seconds", asked.starts);
    line.Parse(argc, argv);
    SetConstants(asked);

    Dumbbell network(asked);
    uint32_t all = asked.flows + asked.cbr;
    uint32_t pairs = asked.hosts == 0 ? all : std::min(asked.hosts, all);
    for (uint32_t i = 0; i < pairs; ++i)
    {
        network.AddPair((all + pairs - 1) / pairs);
    }
    Ptr<UniformRandomVariable> draw = CreateObject<UniformRandomVariable>();
    ApplicationContainer tcp;
    for (uint32_t i = 0; i < all; ++i)
    {
        Time start = Seconds(draw->GetValue(0, asked.starts));
        ApplicationContainer receiver = AddFlow(network, i % pairs, i, i < asked.flows, start);
        if (i < asked.flows)
        {
            tcp.Add(receiver);
        }
    }

    Simulator::Stop(Seconds(asked.duration));
    Simulator::Run();
    double packets = 0;
    for (uint32_t i = 0; i < tcp.GetN(); ++i)
    {
        packets += DynamicCast<PacketSink>(tcp.Get(i))->GetTotalRx() / 472.0;
    }
    std::printf("tcp throughput_bps %.1f\n", packets * 512 * 8 / asked.duration);
    std::printf("link packets_out %llu\n", (unsigned long long)network.Stats().nTotalDequeuedPackets);
    std::printf("link drops %llu\n", (unsigned long long)network.Stats().nTotalDroppedPackets);
    std::printf("events %llu\n", (unsigned long long)Simulator::GetEventCount());
    return 0; // without Simulator::Destroy: the system takes the memory back faster
}

import{_ as e,a as t,b as n,c as r,d as i,f as a,g as o,h as s,i as c,l,m as u,n as d,o as f,p,s as m,t as h,v as g,x as _,y as v}from"./kit.js";var y=200;function b(t){let[n,r]=g(t.text),[i,a]=g(null),s=e(t.text);s.current=t.text,o(()=>r(t.text),[t.text]);let{min:c,max:u,value:d}=t,f=t.isLogarithmic??!1,p=e=>f?y*Math.log(e/c)/Math.log(u/c):e,m=e=>f?c*(u/c)**(e/y):e,h=()=>{n.trim()!==``&&n!==t.text&&t.change(n.trim())},_=e=>{a(e),r(t.write(m(e)))},v=async e=>{await t.change(t.write(m(e))),a(null),r(s.current)};return l(`div`,{class:`slider`,children:[l(`label`,{children:[l(`span`,{children:t.label}),l(`input`,{type:`text`,value:n,"aria-label":`${t.label}, as text`,onInput:e=>r(e.currentTarget.value),onBlur:h,onKeyDown:e=>e.key===`Enter`&&h()})]}),d!==null&&l(`input`,{type:`range`,"aria-label":t.label,"aria-valuetext":t.text,min:f?0:c,max:f?y:u,step:f?1:t.step??1,value:i??p(Math.min(u,Math.max(c,d))),onInput:e=>_(Number(e.currentTarget.value)),onChange:e=>void v(Number(e.currentTarget.value))})]})}function x(e){return l(`label`,{class:`choice`,children:[l(`span`,{children:e.label}),l(`select`,{value:e.value,onChange:t=>e.change(t.currentTarget.value),children:e.options.map(({name:e,text:t})=>l(`option`,{value:e,children:t},e))})]})}var S={"bit/s":1,"kbit/s":1e3,"Mbit/s":1e6,"Gbit/s":1e9,s:1,ms:.001,us:1e-6,ns:1e-9,packets:1,packet:1,B:1,kB:1e3,KiB:1024,MB:1e6,MiB:1048576};function C(e){if(typeof e==`number`)return e;if(typeof e!=`string`)return null;let t=/^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/]+)\s*$/.exec(e),n=t?S[t[2]??``]:void 0;return t&&n!==void 0?Number(t[1])*n:null}var w=e=>String(Number(e.toPrecision(3))),T={rate:e=>e>=1e6?`${w(e/1e6)} Mbit/s`:`${w(e/1e3)} kbit/s`,time:e=>e>=1?`${w(e)} s`:`${w(e*1e3)} ms`,packets:e=>`${Math.max(1,Math.round(Number(e.toPrecision(3))))} packets`,count:e=>String(Math.round(e))},E=e=>typeof e==`object`&&!Array.isArray(e),D=e=>Array.isArray(e)&&e.length>0&&e.every(E);function O(e){return/^[A-Za-z0-9_-]+$/.test(e)?e:JSON.stringify(e)}function k(e){return typeof e==`string`?JSON.stringify(e):Array.isArray(e)?`[${e.map(k).join(`, `)}]`:E(e)?`{ ${Object.entries(e).map(([e,t])=>`${O(e)} = ${k(t)}`).join(`, `)} }`:String(e)}function ee(e){let t=Object.entries(e),n=t.filter(([,e])=>!E(e)&&!D(e)).map(([e,t])=>`${O(e)} = ${k(t)}`);for(let[e,r]of t)if(E(r))n.push(``,`[${O(e)}]`,...A(r));else if(D(r)&&e!==`disciplines`)for(let t of r)n.push(``,`[[${O(e)}]]`,...A(t));else D(r)&&n.unshift(`${O(e)} = ${k(r)}`);return`${n.join(`
`)}\n`}function A(e){return Object.entries(e).map(([e,t])=>`${O(e)} = ${k(t)}`)}function j(e,t){let n=e;for(let e of t){if(n===void 0||typeof n!=`object`)return;n=n[e]}return n}function te(e,t,n){let r=structuredClone(e),i=r;for(let e of t.slice(0,-1)){let t=i[e];(t===void 0||typeof t!=`object`)&&(i[e]={}),i=i[e]}let a=t[t.length-1];return a===void 0||(n===void 0?delete i[a]:i[a]=n),r}var M=e=>e===void 0?``:typeof e==`object`?JSON.stringify(e):String(e);function ne(e){let{about:t}=e;return l(`div`,{class:`contest`,children:[l(ie,{...e}),t.document.link!==void 0&&!Array.isArray(t.document.link)&&l(re,{...e}),l(se,{...e})]})}function re({about:e,edit:t}){let n=t=>j(e.document,[`link`,t]);return l(`fieldset`,{children:[l(`legend`,{children:`Link`}),l(b,{label:`rate`,text:M(n(`rate`)),value:C(n(`rate`)),min:1e6,max:1e8,isLogarithmic:!0,write:T.rate,change:e=>t([`link`,`rate`],e)}),l(b,{label:`buffer`,text:M(n(`buffer`)),value:M(n(`buffer`)).includes(`packet`)?C(n(`buffer`)):null,min:5,max:2e3,isLogarithmic:!0,write:T.packets,change:e=>t([`link`,`buffer`],e)}),l(b,{label:`delay, one way`,text:M(n(`delay`)),value:C(n(`delay`)),min:.001,max:.2,isLogarithmic:!0,write:T.time,change:e=>t([`link`,`delay`],e)})]})}function ie({about:e,parts:t,edit:n}){let r=t.filter(e=>e.kind===`discipline`),i=[...new Set([...r.map(e=>e.name),...e.sides])].map(e=>({name:e,text:e})),a=(t,r)=>{let i=e.sides.slice(0,2);r===``?i.splice(t,1):i[t]=r;let a=j(e.document,[`disciplines`])??[];n([`disciplines`],i.map(t=>a[e.disciplines.indexOf(t)]??t))};return l(`fieldset`,{children:[l(`legend`,{children:`Disciplines`}),l(x,{label:`A`,value:e.sides[0]??``,options:i,change:e=>a(0,e)}),l(x,{label:`B`,value:e.sides[1]??``,options:[{name:``,text:`none`},...i.filter(({name:t})=>t!==e.sides[0])],change:e=>a(1,e)}),e.sides.map(t=>l(ae,{side:t,part:r.find(e=>e.name===t),about:e,edit:n},t))]})}function ae(e){let{side:t,part:n,about:r,edit:i}=e;return!n||n.fields.length===0?null:l(`details`,{children:[l(`summary`,{children:[`parameters of `,t]}),l(`p`,{class:`faint small`,children:n.summary}),n.fields.map(e=>{let t=[`discipline`,n.name,e.name];return l(`label`,{class:`parameter`,title:`${e.text}${e.range?` (${e.range})`:``}`,children:[l(`span`,{children:e.name}),l(`input`,{type:`text`,value:M(j(r.document,t)),placeholder:e.default,onChange:e=>i(t,oe(e.currentTarget.value))})]},e.name)})]})}function oe(e){let t=e.trim();if(t!==``)return t===`true`||t===`false`?t===`true`:Number.isFinite(Number(t))?Number(t):t}function se({about:e,parts:t,edit:n}){let r=e.document.flow??[],i=e=>{let i=r.map(e=>M(e.group)),a=e;for(let t=2;i.includes(a);t+=1)a=`${e}-${t}`;n([`flow`],[...r,ce(a,e,t)])};return l(`fieldset`,{children:[l(`legend`,{children:`Who sends`}),r.map((i,a)=>l(le,{group:i,index:a,about:e,parts:t,edit:n,isLast:r.length===1},`${a} ${M(i.group)}`)),l(`div`,{class:`add`,children:[l(`span`,{class:`faint small`,children:`add`}),[[`bulk`,`TCP`],[`cbr`,`UDP`],[`web`,`web`],[`voip`,`call`]].map(([e,t])=>l(`button`,{type:`button`,onClick:()=>i(e??``),children:[`+ `,t]},e))]})]})}function ce(e,t,n){let r=n.find(e=>e.kind===`source`&&e.name===t),i=r?.is_tcp?{tcp:{control:`cubic`,recovery:`sack`}}:{};return{group:e,source:r?.typed??t,...i,access:{rate:`100 Mbit/s`,delay:`5 ms`}}}function N(e){return typeof e==`object`&&!Array.isArray(e)?Object.keys(e)[0]??``:M(e)}function le({group:e,index:t,about:n,parts:r,edit:i,isLast:a}){let o=M(e.group),s=N(e.source),c=r.find(e=>e.kind===`source`&&e.name===s),u=(...e)=>[`flow`,t,...e],d=j(e,[`source`,s,`rate`]),f=()=>i([`flow`],(n.document.flow??[]).filter((e,n)=>n!==t)),p=r.filter(e=>e.kind===`source`&&e.name!==`replay`);return l(`div`,{class:`sender`,role:`group`,"aria-label":`senders ${o}`,children:[l(`div`,{class:`sender-head`,children:[l(`strong`,{children:o}),l(`button`,{type:`button`,class:`quiet`,disabled:a,"aria-label":`remove ${o}`,onClick:f,children:`remove`})]}),l(x,{label:`sends`,value:s,options:p.map(e=>({name:e.name,text:e.is_tcp?`${e.name} (TCP)`:`${e.name} (UDP)`})),change:t=>{let{access:n,start:a,count:s}=e,c=ce(o,t,r);i(u(),{...c,access:n??c.access??{},...a?{start:a}:{},...s?{count:s}:{}})}}),c?.is_tcp&&l(ue,{group:e,path:u,parts:r,edit:i}),l(b,{label:`how many`,text:M(e.count??1),value:Number(e.count??1),min:1,max:50,write:T.count,change:e=>i(u(`count`),oe(e))}),d!==void 0&&l(b,{label:`rate`,text:M(d),value:C(d),min:1e5,max:1e8,isLogarithmic:!0,write:T.rate,change:e=>i(u(`source`,s,`rate`),e)}),l(de,{group:e,about:n,path:u,edit:i})]})}function ue(e){let t=N(j(e.group,[`tcp`,`control`]))||`reno`,n=e.parts.filter(e=>e.kind===`controller`);return l(x,{label:`TCP`,value:t,options:n.map(e=>({name:e.name,text:e.name})),change:t=>{let n=e.group.tcp??{};e.edit(e.path(`tcp`),{...n,control:t,...t===`reno`?{}:{recovery:`sack`}})}})}function de(e){let t=C(j(e.about.document,[`link`,`delay`])),n=C(j(e.group,[`access`,`delay`]));if(t===null||n===null){let t=M(j(e.group,[`access`,`delay`]));return l(b,{label:`own delay, one way`,text:t,value:null,min:0,max:1,write:T.time,change:t=>e.edit(e.path(`access`,`delay`),t)})}let r=2*t;return l(b,{label:`RTT without queue`,text:T.time(r+4*n),value:r+4*n,min:Math.max(.002,r),max:r+.4,isLogarithmic:!0,write:T.time,change:t=>{let n=C(t),i=n===null?null:Math.max(0,(n-r)/4);e.edit(e.path(`access`,`delay`),i===null?t:`${Number((i*1e3).toPrecision(4))} ms`)}})}async function fe(){let e=await(await fetch(`./server.json`)).json();return{hasPlayer:e.hasPlayer===!0,hasKernel:e.hasKernel===!0,scenario:typeof e.scenario==`string`?e.scenario:null}}async function pe(e,t){if(t(`page`)&&typeof WebAssembly==`object`&&typeof DecompressionStream==`function`)try{return await me()}catch(t){if(!e.hasPlayer)throw t}if(!e.hasPlayer)throw Error("this browser has no WebAssembly, and no process serves this page: run `fairwire play`");return he()}var P=new TextDecoder;async function me(){let e=new Worker(new URL(new URL(`worker.js`,import.meta.url).href,``+import.meta.url),{type:`module`}),t=new Map,n=0,r=e=>{for(let{reject:n}of t.values())n(Error(e));t.clear()};e.onmessage=({data:e})=>{let n=t.get(e.id);t.delete(e.id),e.isError?n?.reject(Error(P.decode(e.bytes))):n?.resolve(e.bytes)},e.onerror=e=>r(`the simulator stopped: ${e.message}`);let i=(r,i)=>new Promise((a,o)=>{n+=1,t.set(n,{resolve:a,reject:o}),e.postMessage({id:n,name:r,input:i===void 0?``:JSON.stringify(i)})});return await i(`catalogue`),{place:`in this page (WebAssembly)`,call:i}}function he(){let e=crypto.getRandomValues(new Uint32Array(2)).join(`-`);return{place:`in the process that serves this page`,call:async(t,n)=>{let r=n===void 0?``:JSON.stringify(n),i=await fetch(`./player/${e}/${t}`,{method:`POST`,body:r}),a=new Uint8Array(await i.arrayBuffer());if(!i.ok)throw Error(P.decode(a));return a}}}async function F(e,t,n){return JSON.parse(P.decode(await e.call(t,n)))}var ge=[{name:`lab`,text:`kernel`,dash:[]},{name:`sim`,text:`simulated`,dash:[4,3]}];async function _e(e){let t=await fetch(`./kernel`,{method:`POST`,body:e}),n=await t.text();if(!t.ok)throw Error(n);return n}function ve(e,t){let n=ye(e),r=[...new Set(t.flows.map(e=>e.group))];return[...n].map(([e,t])=>{let n=r.flatMap((e,t)=>ge.map(n=>({group:e,colour:t,stage:n})));return{title:`On this machine's kernel, under ${e}`,axis:`rate of each group: kernel, and simulated (dashed)`,series:n.map(({group:e,colour:t,stage:n})=>({name:`${e}, ${n.text}`,colour:t,dash:n.dash})),data:()=>{let e=Float64Array.from(t.times).sort();return[e,...n.map(({group:n,stage:r})=>{let i=t.rates.get(`${r.name} ${n}`);return e.map(e=>i?.get(e)??NaN)})]},format:p}})}function ye(e){let t=new Map;for(let n of e.split(`
`).slice(1)){let[e=``,r=``,,i=``,a,o=``,s,,c=``]=n.split(`,`);if(a!==`group`||s!==`egress`)continue;let l=t.get(e)??{times:new Set,rates:new Map};t.set(e,l),l.times.add(Number(i));let u=`${r} ${o}`,d=l.rates.get(u)??new Map;l.rates.set(u,d),d.set(Number(i),Number(c))}return t}var I={at:0,packets:1,bytes:2,link:3,mean:4,p50:5,p99:6},L=7,R={rate:0,offered:1,dropped:2,window:3},be=4,xe=8e6,Se=class{flows;causes;width;rows=0;levels=[];dropped;droppedOf;numbers;constructor(e,t){this.flows=e,this.causes=t,this.width=L+t+be*e,this.numbers=new Float64Array(this.width*1024),this.dropped=new Float64Array(t),this.droppedOf=new Float64Array(e)}add(e){let t=e.length/this.width;this.makeRoom(t),this.numbers.set(e,this.rows*this.width);for(let n=0;n<t;n+=1){let t=n*this.width;for(let n=0;n<this.causes;n+=1)this.dropped[n]=(this.dropped[n]??0)+(e[t+L+n]??0);for(let n=0;n<this.flows;n+=1)this.droppedOf[n]=(this.droppedOf[n]??0)+(e[t+this.column(n,R.dropped)]??0)}this.rows+=t}at(e,t){return this.numbers[e*this.width+t]??NaN}column(e,t){return L+this.causes+be*e+t}makeRoom(e){if((this.rows+e)*this.width>xe&&this.rows>1){let e=Math.floor(this.rows/2);this.numbers.copyWithin(0,(this.rows-e)*this.width,this.rows*this.width),this.rows=e}let t=(this.rows+e)*this.width;if(t<=this.numbers.length)return;let n=new Float64Array(Math.max(t,2*this.numbers.length));n.set(this.numbers.subarray(0,this.rows*this.width)),this.numbers=n}from(e){return this.at(this.rows-1,I.at),Math.max(0,this.rows-Math.round(e/.01),0)}means(e,t,n,r){let i=Math.ceil(t/n)*n,a=Math.max(0,Math.ceil((this.rows-i)/n)),o=new Float64Array(a);for(let e=0;e<a;e+=1)o[e]=this.at(i+e*n,I.at);return[o,...e.map(e=>this.smoothed(e,i,a,n,r))]}smoothed(e,t,n,r,i){let{numbers:a,width:o}=this,s=new Float64Array(n),c=Math.max(i,r),l=0,u=0,d=Math.max(0,t-c+1),f=d;for(let i=0;i<n;i+=1){let n=t+i*r;for(;f<=n;f+=1){let t=a[f*o+e]??NaN;t===t&&(l+=t,u+=1)}for(;d<=n-c;d+=1){let t=a[d*o+e]??NaN;t===t&&(l-=t,--u)}s[i]=u>0?Math.max(0,l/u):NaN}return s}};function Ce(e,t){let n=new Float64Array(e.buffer,e.byteOffset,e.byteLength/8),r=3;for(let e of t){let t=n[r]??0,i=n[r+2]??0;r+=3,e.levels=Array.from({length:t},(e,t)=>({demand:n[r+3*t]??0,delivered:n[r+3*t+1]??0,share:n[r+3*t+2]??0})),r+=3*t,e.add(n.subarray(r,r+i*e.width)),r+=i*e.width}return{now:n[0]??0,isOver:n[1]===1}}function z(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(t),n.download=e,n.click(),setTimeout(()=>URL.revokeObjectURL(n.href),1e4)}var B=e=>e.replace(/[&<>"]/g,e=>({"&":`&amp;`,"<":`&lt;`,">":`&gt;`,'"':`&quot;`})[e]??e),V=880,H=250,U=90,W={top:48,bottom:44,right:16};function we(e,n){let r=t(),i=40+n.length*H,a=n.map((e,t)=>Te(e,40+t*H,r));return`<svg xmlns="http://www.w3.org/2000/svg" width="${V}" height="${i}" viewBox="0 0 ${V} ${i}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${r.card}"/>
<text x="16" y="27" font-size="17" font-weight="600" fill="${r.text}">${B(e)}</text>
${a.join(`
`)}
</svg>
`}function Te(e,t,n){let[r=new Float64Array,...i]=e.data(),a=r[0]??0,o=r[r.length-1]??1,s=0;for(let e of i)for(let t of e)t>s&&(s=t);let c=s*1.06||1,l=e=>U+(790-W.right)*(e-a)/(o-a||1),u=e=>t+H-W.bottom-(H-W.top-W.bottom)*(e/c),d=[0,.25,.5,.75,1].map(e=>e*c).map(t=>`<line x1="${U}" x2="${V-W.right}" y1="${u(t).toFixed(1)}" y2="${u(t).toFixed(1)}" stroke="${n.grid}"/>
<text x="84" y="${(u(t)+4).toFixed(1)}" text-anchor="end" fill="${n.faint}">${B(e.format(t))}</text>`),p=i.map((t,i)=>{let a=e.series[i],o=n.series[(a?.colour??i)%9]??n.text,s=(a?.dash??f(a?.colour??i)).join(` `);return`<path d="${Ee(r,t,l,u)}" fill="none" stroke="${o}" stroke-width="1.5" stroke-dasharray="${s}"/>`}),m=[...new Set(e.series.map(e=>e.group??e.name))],h=U,g=m.slice(0,12).map(r=>{let i=e.series.findIndex(e=>(e.group??e.name)===r),a=n.series[(e.series[i]?.colour??i)%9]??n.text,o=`<rect x="${h}" y="${t+H-22}" width="14" height="4" fill="${a}"/><text x="${h+18}" y="${t+H-16}" fill="${n.text}">${B(r)}</text>`;return h+=34+r.length*7,o});return`<text x="16" y="${t+20}" font-weight="600" fill="${n.text}">${B(e.title)}</text>
<text x="16" y="${t+36}" fill="${n.faint}">${B(e.axis)}; ${a.toFixed(1)} s to ${o.toFixed(1)} s</text>
${d.join(`
`)}
${p.join(`
`)}
${g.join(`
`)}`}function Ee(e,t,n,r){let i=``,a=!1;for(let o=0;o<t.length;o+=1){let s=t[o]??NaN;Number.isNaN(s)?a=!1:(i+=`${a?`L`:`M`}${n(e[o]??0).toFixed(1)} ${r(s).toFixed(1)}`,a=!0)}return i}async function De(e){let t=URL.createObjectURL(new Blob([e],{type:`image/svg+xml`}));try{let e=new Image;e.src=t,await e.decode();let n=document.createElement(`canvas`);return n.width=2*e.width,n.height=2*e.height,n.getContext(`2d`)?.drawImage(e,0,0,n.width,n.height),await new Promise((e,t)=>n.toBlob(n=>n?e(n):t(Error(`the browser makes no PNG of it`))))}finally{URL.revokeObjectURL(t)}}var Oe=e=>/[",]/.test(e)?`"${e.replaceAll(`"`,`""`)}"`:e;function ke(e,{sides:t,eras:n}){let r=e.flows.flatMap(e=>[`${e.name}.rate_bps`,`${e.name}.window_segments`]),i=[[`time_s`,`discipline`,`queue_packets`,`queue_bytes`,`wait_mean_s`,`wait_p50_s`,`wait_p99_s`,...e.causes.map(e=>`drops.${e}`),...r].join(`,`)],a=e=>Number.isNaN(e)?``:String(e);return t.forEach((t,r)=>{let o=n.map(e=>({since:e.since,name:Oe(e.sides[r]??``)})),s=0;for(let n=0;n<t.rows;n+=1){for(;s+1<o.length&&t.at(n,I.at)>(o[s+1]?.since??0)+1e-9;)s+=1;let r=o[s]?.name??``,c=[I.packets,I.bytes,I.mean,I.p50,I.p99].map(e=>a(t.at(n,e))),l=e.causes.map((e,r)=>a(t.at(n,I.p99+1+r))),u=e.flows.flatMap((e,r)=>[a(t.at(n,t.column(r,R.rate))),a(t.at(n,t.column(r,R.window)))]);i.push([a(t.at(n,I.at)),r,...c,...l,...u].join(`,`))}}),`${i.join(`
`)}\n`}var Ae=[.05,.25,1,4,16],je=.5,Me=class{door;changed;failed;about=null;sides=[];now=0;isOver=!1;isPlaying=!1;isBusy=!1;isRushing=!1;speed=1;result=null;frames=0;eras=[];run=0;last=0;constructor(e,t,n){this.door=e,this.changed=t,this.failed=n}async start(e){let t=++this.run;this.isBusy=!0;try{let n=await F(this.door,`start`,{scenario:e});if(t!==this.run)return;this.about=n,this.sides=n.sides.map(()=>new Se(n.flows.length,n.causes.length)),this.now=0,this.eras=[{since:0,sides:n.sides}],this.isOver=!1,this.isRushing=!1,this.result=null,this.last=0}finally{t===this.run&&(this.isBusy=!1),this.changed()}await this.advance(Ne(this.about))}async set(e){for(;this.isBusy;)await new Promise(e=>setTimeout(e,1));this.isBusy=!0;try{return this.about=await F(this.door,`set`,{set:e}),this.eras.push({since:this.now,sides:this.about.sides}),!0}catch(e){if(String(e).includes(`all else needs a new run`))return!1;throw e}finally{this.isBusy=!1,this.changed()}}setPlaying(e){this.isPlaying=e&&!this.isOver,this.isRushing=!1,this.last=0,this.changed()}rush(){this.isPlaying=!this.isOver,this.isRushing=!0,this.changed()}async step(){this.setPlaying(!1),await this.advance(this.now+Ne(this.about))}tick(e){if(!this.isPlaying||this.isBusy||!this.about)return;let t=this.last===0?1/60:Math.min(.1,(e-this.last)/1e3),n=this.isRushing?je:Math.min(je,t*this.speed),r=Math.min(this.target(e)+n,this.about.duration_s);this.last=e,this.wanted=r,(r-this.now>=this.about.sample_s||r>=this.about.duration_s)&&this.advance(r)}wanted=0;target(e){let t=this.about?.sample_s??.01;return this.wanted>this.now&&this.wanted<this.now+2*t?this.wanted:this.now}async advance(e){if(this.isBusy||!this.about)return;let t=this.run;this.isBusy=!0;try{let n=await this.door.call(`advance`,{to_s:e+1e-6});if(t!==this.run)return;let r=Ce(n,this.sides);this.now=r.now,this.frames+=1,r.isOver&&!this.isOver&&await this.end()}catch(e){this.isPlaying=!1,this.failed(String(e instanceof Error?e.message:e))}finally{t===this.run&&(this.isBusy=!1)}}async end(){this.result=await F(this.door,`result`),this.isOver=!0,this.isPlaying=!1,this.isRushing=!1,this.changed()}};function Ne(e){return e?.sample_s??.01}var G=Object.entries(Object.assign({"../../../lessons/01-distance.toml":`# A full buffer refuses everybody alike, and TCP takes longer to come back over a longer way.

format = 2
name = "lesson-distance"
title = "Why tail-drop starves long round-trip times"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "faba"]

[lesson]
question = "Four TCP flows share a link. Their round-trip times are 10, 20, 50 and 200 ms. Does a plain queue share fairly?"
look = "Watch the windows: the nearest flow's saw has many teeth in the time of one tooth of the furthest. Then give all one delay of their own, such as 10 ms."
measure = "jain"
reads = "Jain's index of what the four flows get over their fair shares: 1 is fair, and a quarter is one flow alone."
answer = "A window grows by a segment each round trip, so the nearest flow wins what others leave. FABA gives every flow tokens of its own, however far it is."
figure = "faba.table2"

[link]
rate = "16 Mbit/s"
delay = "1 ms"
buffer = "70 ms"

# A round trip is 2 x (d + 1 + d) ms.
[[flow]]
group = "tcp"
count = 4
source = "bulk"
tcp = { profile = "ns2-2002", segment = "512 B" }
access = { rate = "100 Mbit/s", delay = ["2 ms", "4.5 ms", "12 ms", "49.5 ms"] }
start = "0 s..1 s"

[[expect]]
discipline = "faba"
measure = "jain"
more_than = { discipline = "tail-drop", margin = 0.1 }
because = "Kamra et al. (2004), table 2"
`,"../../../lessons/02-flood.toml":`# RED drops at random, so a flow that does not listen keeps what it sends.

format = 2
name = "lesson-flood"
title = "What a flood does to RED"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "red"]

[lesson]
question = "Nine TCP flows share 10 Mbit/s with one UDP flow of 5 Mbit/s. RED drops early and at random. Does that hold the flood down?"
look = "In the waterline the flood stands far above the line, with RED too. Change its rate, or choose FABA as B."
measure = "share.udp"
reads = "What the UDP flow gets over its fair share of 1 Mbit/s: 1 is fair."
answer = "No. Each packet of the flood is as likely to be dropped as any other, and the flood does not slow down. TCP does, and gives way."
figure = "faba.table1"

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "780 packets"

[discipline.red]
max_probability = 0.02

[[flow]]
group = "tcp"
count = 9
source = "bulk"
tcp = { profile = "ns2-2002", segment = "512 B" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"

[[flow]]
group = "udp"
source = { cbr = { rate = "5 Mbit/s", packet = "512 B" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"

[[expect]]
discipline = "red"
measure = "share.udp"
min = 4.5
because = "Kamra et al. (2004), table 1: RED leaves TCP 0.557 of its share"
`,"../../../lessons/03-tokens.toml":`# A bucket for each flow: what has spent its tokens is dropped, at no cost to other flows.

format = 2
name = "lesson-tokens"
title = "How FABA's tokens move"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["red", "faba"]

[lesson]
question = "FABA gives each flow a bucket of tokens. A packet that leaves refills a bucket drawn at random. What does the flood get now?"
look = "In the table of drops, FABA drops for want of tokens, and only from the flood. Its bar ends at the line."
measure = "share.udp"
reads = "What the UDP flow gets over its fair share of 1 Mbit/s: 1 is fair."
answer = "About one fair share. Its bucket is empty whenever it sends more than its part of the tokens; the buckets of TCP are not, and TCP keeps its due."
figure = "faba.table1"

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "780 packets"

[discipline.red]
max_probability = 0.02

[[flow]]
group = "tcp"
count = 9
source = "bulk"
tcp = { profile = "ns2-2002", segment = "512 B" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"

[[flow]]
group = "udp"
source = { cbr = { rate = "5 Mbit/s", packet = "512 B" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"

[[expect]]
discipline = "faba"
measure = "share.udp"
max = 1.3
because = "Kamra et al. (2004), table 1: under FABA TCP gets 0.987 of its share"
`,"../../../lessons/04-push-out.toml":`# A full buffer makes room: from the longest queue, or from a random one above its part.

format = 2
name = "lesson-push-out"
title = "RND and LQD: who makes room"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "lqd"]

[lesson]
question = "A buffer is full. Tail-drop refuses what comes. LQD drops from the front of the longest queue instead. What do far flows gain?"
look = "Under LQD it is the near flows' packets that are pushed out. Choose RND as B: a random queue above its part is nearly as good, at a lower price."
measure = "share.far"
reads = "What the far flows get over their fair share: 1 is fair."
answer = "The flow that holds most of the buffer pays for it. That is rarely a far one: its packets arrive in a trickle between long waits."
figure = "lqd.fig1"

[link]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "60 packets"

[[flow]]
group = "near"
count = 6
source = "bulk"
tcp = { profile = "ns2-2002", segment = "512 B" }
access = { rate = "100 Mbit/s", delay = "2 ms" }
start = "0 s..1 s"

[[flow]]
group = "far"
count = 2
source = "bulk"
tcp = { profile = "ns2-2002", segment = "512 B" }
access = { rate = "100 Mbit/s", delay = "40 ms" }
start = "0 s..1 s"

[[expect]]
discipline = "lqd"
measure = "share.far"
more_than = { discipline = "tail-drop", margin = 0.1 }
because = "Suter et al. (1998), fig. 1 and 2"
`,"../../../lessons/05-sample.toml":`# A short memory of arrivals is enough to know who sends too fast.

format = 2
name = "lesson-sample"
title = "AFD's sample of arrivals"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["red", "afd-sb"]

[lesson]
question = "AFD remembers one of five packets that came, a thousand of them. Is that enough to find the fast flows, without a queue for each?"
look = "The demands of the fifty flows differ by twelve. In the waterline each fill should end at the line, or at its outline below it."
measure = "jain"
reads = "Jain's index of what each flow gets over its max-min share: 1 is fair."
answer = "Yes. A flow that is often in the sample sends fast, and its packets are dropped in that proportion. Slow flows lose nothing."
figure = "afd.fig6"

[link]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "300 packets"

[discipline.afd-sb]
samples = 1000
sampling = 0.2
q_target = "50 packets"

[[flow]]
group = "r50"
count = 10
source = { cbr = { rate = "50 kbit/s", packet = "1000 B", dither = 0.5 } }
access = { rate = "100 Mbit/s", delay = "2 ms" }
start = "0 s..1 s"

[[flow]]
group = "r100"
count = 10
source = { cbr = { rate = "100 kbit/s", packet = "1000 B", dither = 0.5 } }
access = { rate = "100 Mbit/s", delay = "2 ms" }
start = "0 s..1 s"

[[flow]]
group = "r200"
count = 10
source = { cbr = { rate = "200 kbit/s", packet = "1000 B", dither = 0.5 } }
access = { rate = "100 Mbit/s", delay = "2 ms" }
start = "0 s..1 s"

[[flow]]
group = "r400"
count = 10
source = { cbr = { rate = "400 kbit/s", packet = "1000 B", dither = 0.5 } }
access = { rate = "100 Mbit/s", delay = "2 ms" }
start = "0 s..1 s"

[[flow]]
group = "r600"
count = 10
source = { cbr = { rate = "600 kbit/s", packet = "1000 B", dither = 0.5 } }
access = { rate = "100 Mbit/s", delay = "2 ms" }
start = "0 s..1 s"

[[expect]]
discipline = "afd-sb"
measure = "jain"
more_than = { discipline = "red", margin = 0.02 }
because = "Pan et al. (2003), fig. 6"
`,"../../../lessons/06-edges.toml":`# A contract is kept at the edge: a bucket marks what is within it, and RIO drops the rest first.

format = 2
name = "lesson-edges"
title = "ATB: contracts that are kept at the edges"
duration = "120 s"
warm_up = "40 s"
seeds = 1
disciplines = ["red", "rio"]

[lesson]
question = "Two customers bought 2 and 6 of 10 Mbit/s. Each opens ten connections. Who gets what, if the link knows nothing of contracts?"
look = "Edges mark what is within a contract green. RED does not look at colours; RIO drops green packets last."
measure = "share.small"
reads = "What the customer of 2 Mbit/s gets, over an equal share of the link: 1 is as much as the other."
answer = "RED shares by connections, so the small customer gets half. With RIO the colours of the edge decide, and the one that paid more gets more."
figure = "atb.table1"

[link]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "100 packets"

[discipline.rio]
ecn = "mark"
wait = false
green = { min_threshold = "50 packets", max_threshold = "80 packets", max_probability = 0.02 }
yellow = { min_threshold = "10 packets", max_threshold = "50 packets", max_probability = 0.1 }

[marker.token-bucket]
burst = "50 kB"

[[aggregate]]
name = "a1"
target = "2 Mbit/s"
marker = "token-bucket"

[[flow]]
group = "small"
aggregate = "a1"
count = 10
source = "bulk"
tcp = { profile = "ns2-2002", segment = "460 B", ecn = "ect0" }
access = { rate = "100 Mbit/s", delay = "15 ms" }
start = "0 s..1 s"

[[aggregate]]
name = "a2"
target = "6 Mbit/s"
marker = "token-bucket"

[[flow]]
group = "large"
aggregate = "a2"
count = 10
source = "bulk"
tcp = { profile = "ns2-2002", segment = "460 B", ecn = "ect0" }
access = { rate = "100 Mbit/s", delay = "15 ms" }
start = "0 s..1 s"

[[expect]]
discipline = "rio"
measure = "share.small"
less_than = { discipline = "red", margin = 0.1 }
because = "Park and Choi (2003)"
`,"../../../lessons/07-bufferbloat.toml":`# A large buffer is full of what TCP sends to find out that it is large.

format = 2
name = "lesson-bufferbloat"
title = "Bufferbloat, and what CoDel does about it"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "codel"]

[lesson]
question = "Two downloads and a call share 10 Mbit/s behind a buffer of a thousand packets. How long does the call wait?"
look = "Tail-drop's queue fills to the top and stays there. Move the buffer: a smaller one is a shorter wait, until the link runs dry. CoDel does not need the right size."
measure = "sojourn_p99_s"
reads = "The wait in the queue that 99 of 100 packets did not exceed, in seconds."
answer = "About a second under tail-drop. CoDel drops as soon as the least wait of 100 ms stays above 5 ms, and the call is a call again."

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1000 packets"

[[flow]]
group = "tcp"
count = 2
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[flow]]
group = "call"
source = "voip"
access = { rate = "100 Mbit/s", delay = "5 ms" }

[[expect]]
discipline = "codel"
measure = "sojourn_p99_s"
less_than = { discipline = "tail-drop", margin = 0.3 }
because = "RFC 8289"
`,"../../../lessons/08-call.toml":`# A queue of its own is what a sparse flow needs, rather than a short queue for all.

format = 2
name = "lesson-call"
title = "A call beside a download: CoDel or FQ-CoDel"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["codel", "fq-codel"]

[lesson]
question = "CoDel holds the queue short. Who gets the link, if one of the senders does not listen?"
look = "The waterline: CoDel signals, and a flood does not hear it. FQ-CoDel serves each queue in turn."
measure = "share.tcp"
reads = "What the TCP flows get over their fair share: 1 is fair."
answer = "CoDel is blind to flows, as RED is. With a queue for each flow the flood waits behind itself, and everybody else is served in turn."

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1000 packets"

[[flow]]
group = "tcp"
count = 4
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[flow]]
group = "flood"
source = { cbr = { rate = "8 Mbit/s", packet = "1000 B" } }
access = { rate = "100 Mbit/s", delay = "5 ms" }

[[flow]]
group = "call"
source = "voip"
access = { rate = "100 Mbit/s", delay = "5 ms" }

[[expect]]
discipline = "fq-codel"
measure = "share.tcp"
more_than = { discipline = "codel", margin = 0.3 }
because = "RFC 8290"
`,"../../../lessons/09-cubic-and-bbr.toml":`# Two ways to find the rate of a link do not agree on who has it.

format = 2
name = "lesson-cubic-and-bbr"
title = "CUBIC meets BBR in a small buffer"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "fq-codel"]

[lesson]
question = "One CUBIC flow and one BBR flow share a link with a small buffer. Who wins?"
look = "CUBIC's window is a saw: it halves on loss. BBR keeps to the rate that was delivered, and takes loss for nothing."
measure = "share.cubic"
reads = "What CUBIC gets over its fair share: 1 is fair."
answer = "BBR, where the queue is shared. A queue for each flow makes the contest one against oneself."

[link]
rate = "20 Mbit/s"
delay = "15 ms"
buffer = "25 packets"

[[flow]]
group = "cubic"
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[flow]]
group = "bbr"
source = "bulk"
tcp = { control = "bbr", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[expect]]
discipline = "fq-codel"
measure = "share.cubic"
more_than = { discipline = "tail-drop", margin = 0.2 }
because = "each has a queue of its own"
`,"../../../lessons/10-many-connections.toml":`# Fair between connections is not fair between people.

format = 2
name = "lesson-many-connections"
title = "One download against nine: who is a flow?"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["drr", "cake-like"]

[lesson]
question = "One host opens nine connections, another one. Fair queueing serves connections in turn. What does the single one get?"
look = "Under DRR each connection is a flow. The other discipline shares between hosts first, and then between the flows of each."
measure = "fraction.single"
reads = "The part of the link that the single connection gets: a half is fair between the two hosts."
answer = "A tenth, where connections are counted. A half, where hosts are: nine connections buy nothing."

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "300 packets"

[[flow]]
group = "nine"
class = 0
count = 9
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[flow]]
group = "single"
class = 1
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[expect]]
discipline = "cake-like"
measure = "fraction.single"
min = 0.4
because = "hosts share equally"
`})).sort(([e],[t])=>e<t?-1:1).map(([e,t])=>({name:e.replace(/^.*\/(?:\d+-)?/,``).replace(/\.toml$/,``),title:/^title = "(.*)"$/m.exec(t)?.[1]??e,scenario:t}));function Pe({game:e,about:t,lesson:n,restore:r}){return l(`section`,{class:`card lesson`,"aria-label":`lesson`,children:[l(`h2`,{children:t.title}),l(`p`,{class:`question`,children:n.question}),n.look&&l(`p`,{class:`faint`,children:n.look}),r&&l(`p`,{children:[l(`span`,{class:`faint`,children:`You have changed the contest: its numbers are others. `}),l(`button`,{type:`button`,onClick:()=>r(),children:`Begin as written`})]}),e.result?l(Fe,{result:e.result,lesson:n,isAsWritten:r===null}):l(`p`,{children:l(`button`,{type:`button`,class:`primary`,onClick:()=>e.rush(),disabled:e.isRushing,children:e.isRushing?`${a(e.now/t.duration_s,2)} done`:`Run to the end and answer`})})]})}function Fe(e){let{result:t,lesson:n,isAsWritten:r}=e;return l(`div`,{class:`answer`,role:`status`,children:[l(`dl`,{children:t.map(e=>{let t=e.measures[n.measure];return l(`div`,{children:[l(`dt`,{children:e.discipline}),l(`dd`,{class:`number`,"data-discipline":e.discipline,"data-measure":n.measure,"data-value":t,children:t===void 0?`–`:s(t)})]},e.discipline)})}),l(`p`,{class:`faint small`,children:n.reads}),r&&l(`p`,{children:n.answer}),n.figure&&l(`p`,{class:`faint small`,children:[`The same as a figure: `,l(`code`,{children:[`fairwire reproduce `,n.figure]})]})]})}var Ie=32768,Le=262144,Re=async(e,t)=>new Response(new Response(e).body?.pipeThrough(t));async function K(e){if(`lesson`in e)return`#lesson=${encodeURIComponent(e.lesson)}`;let t=new Uint8Array(await(await Re(new TextEncoder().encode(e.scenario),new CompressionStream(`deflate-raw`))).arrayBuffer());return`#scenario=${btoa(String.fromCharCode(...t)).replaceAll(`+`,`-`).replaceAll(`/`,`_`).replaceAll(`=`,``)}`}async function ze(e){let t=e.replace(/^#/,``);if(t===``)return null;let[n,r=``]=t.split(`=`,2);if(n===`lesson`)return{lesson:decodeURIComponent(r)};if(n!==`scenario`)throw Error("it begins with neither `lesson=` nor `scenario=`");if(r.length>Ie)throw Error(`it is too long`);try{let e=atob(r.replaceAll(`-`,`+`).replaceAll(`_`,`/`)),t=(await Re(Uint8Array.from(e,e=>e.charCodeAt(0)),new DecompressionStream(`deflate-raw`))).body;return{scenario:await Ve(t)}}catch(e){throw e instanceof Be?e:Error(`it is damaged or cut short`)}}var Be=class extends Error{};async function Ve(e){let t=e?.getReader(),n=new TextDecoder(`utf-8`,{fatal:!0}),r=``;for(;;){let e=await t?.read();if(!e||e.done)return r+n.decode();if(r+=n.decode(e.value,{stream:!0}),r.length>Le)throw await t?.cancel(),new Be(`it unpacks to too much`)}}var He=400,Ue=160,We=9;function q(e){let t=[...new Set(e.flows.map(e=>e.group))],n=e.flows.length>We;return e.flows.map((e,r)=>{let i=n?t.indexOf(e.group):r;return n?{name:e.name,group:e.group,colour:i,width:1}:{name:e.name,colour:i}})}function J(e,t){let n=e.from(t.span),r=e.flows>We?Ue:He;return{first:n,stride:Math.max(1,Math.ceil((e.rows-n)/r),Math.ceil(t.span*100/r))}}function Y(e,t,n){return{title:`Rate of each flow`,axis:`rate, mean of ${n.smooth*10} ms`,series:q(e),data:()=>{let{first:r,stride:i}=J(t,n),a=e.flows.map((e,n)=>t.column(n,R.rate));return t.means(a,r,i,n.smooth)},format:p}}function X(e,t,n){let r=e.flows.map((e,t)=>({flow:e,index:t})).filter(({flow:e})=>e.is_tcp),i=q(e);return{title:`Congestion window`,axis:`segments`,series:r.flatMap(({index:e})=>i[e]??[]),data:()=>{let{first:e,stride:i}=J(t,n),a=r.map(({index:e})=>t.column(e,R.window));return t.means(a,e,i,1)},format:e=>s(e)}}function Ge(e,t,n,r){return{series:e.sides.flatMap((e,t)=>r.map(({suffix:n,dash:r})=>({name:`${e}${n}`,colour:t,dash:r}))),data:()=>{let e=t[0];if(!e)return[new Float64Array];let{first:i,stride:a}=J(e,n),o=t.map(e=>e.means(r.map(({field:e})=>e),i,a,a));return[o[0]?.[0]??new Float64Array,...o.flatMap(([,...e])=>e)]}}}function Ke(e,t,n){return{title:`Queue`,axis:`packets that wait`,...Ge(e,t,n,[{field:I.packets,suffix:``,dash:[]}]),format:e=>s(e)}}function qe(e,t,n){return{title:`Delay in the queue`,axis:`per interval: median, and 99th percentile (dashed)`,...Ge(e,t,n,[{field:I.p50,suffix:` p50`,dash:[]},{field:I.p99,suffix:` p99`,dash:[4,3]}]),format:u}}function Je({game:e,about:t,view:n,version:r,slow:i,kernel:a}){let{sides:o}=e,s={version:r,span:[Math.max(0,e.now-n.span),Math.max(n.span,e.now)],cursor:`play`},u=o.length>1,f=v(()=>Math.max(...o.map(e=>Xe(e,t,n))),[i]),p=v(()=>Math.max(...o.map(e=>Ze(e,t,n))),[i]),m=v(()=>Math.max(...o.map(e=>d(et(t,e),Q(e)))),[i]),h=t.flows.some(e=>e.is_tcp);return l(`div`,{class:u?`pictures two`:`pictures`,children:[o.map((e,n)=>l(tt,{about:t,side:e,index:n,slow:i,top:m},`water ${n}`)),o.map((e,r)=>l(Z,{title:`Rate of each flow`,side:t.sides[r],children:l(c,{...Y(t,e,n),...s,range:[0,f*1.06||1],height:210})},`rates ${r}`)),h&&o.map((e,r)=>l(Z,{title:`Congestion window`,side:t.sides[r],children:l(c,{...X(t,e,n),...s,range:[0,p*1.06||1],height:170})},`windows ${r}`)),l(Z,{title:`Queue`,children:l(c,{...Ke(t,o,n),...s,height:170})}),l(Z,{title:`Delay in the queue`,children:l(c,{...qe(t,o,n),...s,height:170})}),l(Ye,{about:t,kernel:a}),l(nt,{about:t,sides:o,slow:i})]})}function Ye({about:e,kernel:t}){return v(()=>t===null?null:l(n,{children:ve(t,e).map(e=>l(Z,{title:e.title,children:l(c,{...e,version:0,height:210})},e.title))}),[t,e])}function Z(e){return l(`section`,{class:`card`,children:[l(`header`,{children:l(`h2`,{children:[e.title,e.side&&l(`span`,{class:`side`,children:[` under `,e.side]})]})}),e.children]})}function Xe(e,t,n){let[,...r]=Y(t,e,n).data();return Math.max(0,...r.map(Qe))}function Ze(e,t,n){let[,...r]=X(t,e,n).data();return Math.max(0,...r.map(Qe))}function Qe(e){let t=0;for(let n of e)n>t&&(t=n);return t}function $e(e){let t=e.levels.filter(e=>e.share>0).map(e=>e.delivered/e.share),n=t.reduce((e,t)=>e+t,0),r=t.reduce((e,t)=>e+t*t,0);return r>0?n*n/(t.length*r):NaN}function Q(e){let t=e.levels.map(e=>e.share).filter(Number.isFinite);return t.length>0?Math.max(...t):void 0}function et(e,t){let n=q(e);return t.levels.map((t,r)=>({name:e.flows[r]?.name??``,demand:t.demand,delivered:t.delivered,colour:n[r]?.colour??0}))}function tt(e){let{about:t,side:n,index:r,slow:i,top:a}=e;return v(()=>{let e=et(t,n),i=Q(n);return l(`section`,{class:`card`,children:[l(`header`,{children:l(`h2`,{children:[`Who gets what `,l(`span`,{class:`side`,children:[`under `,t.sides[r]]})]})}),l(`p`,{class:`faint small`,children:[`last second`,i===void 0?``:`; Jain ${s($e(n))}`]}),l(h,{title:`What each flow wants and gets under ${t.sides[r]}`,levels:e,share:i,top:a,format:p,height:190})]})},[i,n,a])}function nt(e){let{about:t,sides:n,slow:a}=e;return v(()=>{let e=[...new Set(t.flows.map(e=>e.group))],a=t.causes.map((e,t)=>({name:e,index:t})).filter(({index:e})=>n.some(t=>(t.dropped[e]??0)>0)),o=(e,n)=>t.flows.reduce((t,r,i)=>r.group===n?t+(e.droppedOf[i]??0):t,0);return l(`section`,{class:`card wide`,children:[l(`header`,{children:[l(`h2`,{children:`Drops`}),l(`span`,{class:`faint small`,children:`packets since the start`})]}),l(`div`,{class:`drops`,children:[l(r,{title:`Drops by cause`,columns:t.sides,rows:a.map(({name:e,index:t})=>({name:e,values:n.map(e=>e.dropped[t]??0)})),format:i}),l(r,{title:`Drops by who sent`,columns:t.sides,rows:e.map(e=>({name:e,values:n.map(t=>o(t,e))})),format:i})]})]})},[a,n])}var rt=[2,5,10,30,120],it=[1,5,10,25,100],at=100,ot=1e3;function st(){let[t,n]=g(null),[r,i]=g([]),[a,s]=g(null),[c,u]=g(``),[d,f]=g(null),[p,h]=g({span:10,smooth:10}),[_,v]=g(null),[y,b]=g(null),[,x]=g(0),S=e(!1),C=e=>s({mood:`bad`,text:e}),w=async(e,t,n=!0)=>{try{return await e.start(t),e.setPlaying(n),!0}catch(e){return C($(e)),!1}};o(()=>{S.current||(S.current=!0,addEventListener(`hashchange`,()=>location.reload()),lt(n,i,u,f,s,v,()=>x(e=>e+1),w).catch(e=>C($(e))))},[]);let T=async(e,n,r=!1)=>{let i=r?(t?.isPlaying??!1)||(t?.isOver??!1):!m();return!t||!await w(t,e,i)?!1:(r||f(ut(t,e,n)),b(null),u(n),history.replaceState(null,``,await K(n?{lesson:n}:{scenario:e})),!0)},E=async(e,n)=>{if(!t?.about)return;s(null);let r=te(t.about.document,e,n);try{let r=e[0]===`disciplines`&&Array.isArray(n)&&n.length!==t.about.sides.length;if(n!==void 0&&!r&&!t.isOver&&await t.set([ct(t.about,e,n)])){u(``),s({mood:`plain`,text:`Changed at ${t.now.toFixed(2)} s; the run goes on.`}),history.replaceState(null,``,await K({scenario:t.about.toml}));return}}catch(e){return C($(e).replace(/^--set:\d+:\d+: /,``))}delete r.expect,await T(ee(r),``,!0)&&s({mood:`plain`,text:`This needs a new run: it began again.`})},D=e=>{s(null);let t=G.find(t=>t.name===e);T(t?.scenario??_?.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
format = 2
name = "play"
title = "Four TCP flows and one that does not slow down"
duration = "120 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "fq-codel"]

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "100 packets"

[[flow]]
group = "near"
count = 2
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "2 ms" }
start = "0 s..1 s"

[[flow]]
group = "far"
count = 2
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "20 ms" }
start = "0 s..1 s"

[[flow]]
group = "flood"
source = { cbr = { rate = "3 Mbit/s", packet = "1000 B" } }
access = { rate = "100 Mbit/s", delay = "5 ms" }
`,t?e:``)},O=t?.about??null;return l(`main`,{class:`play`,children:[l(`header`,{class:`top`,children:[l(`h1`,{children:`fairwire play`}),l(`label`,{class:`pick`,children:[l(`span`,{class:`unseen`,children:`lesson`}),l(`select`,{value:c,onChange:e=>D(e.currentTarget.value),children:[l(`option`,{value:``,children:`free play`}),G.map((e,t)=>l(`option`,{value:e.name,children:[t+1,`. `,e.title]},e.name))]})]}),t&&O&&l(ft,{game:t,view:p,setView:h,clear:()=>s(null),fail:C})]}),a&&l(`p`,{class:a.mood===`bad`?`notice bad`:`notice`,role:`alert`,children:a.text}),t&&O?l(`div`,{class:`body`,children:[l(`aside`,{"aria-label":`the contest`,children:[O.lesson&&l(Pe,{game:t,about:O,lesson:O.lesson,restore:d&&O.toml!==d.toml?()=>T(d.scenario,d.name):null}),l(ne,{about:O,parts:r,edit:E}),_?.hasKernel&&l(gt,{about:O,setKernel:b,fail:C}),l(_t,{game:t,view:p,lesson:c,fail:C})]}),l(mt,{game:t,view:p,kernel:y})]}):l(`p`,{class:`faint wait`,children:`The simulator is being loaded…`})]})}function ct(e,t,n){let r=e.document.flow;return`${t.map((e,n)=>{let i=n===1&&t[0]===`flow`&&Array.isArray(r)?r[Number(e)]:void 0;return String(typeof i==`object`&&!Array.isArray(i)?i.group:e)}).join(`.`)}=${k(n)}`}function $(e){return e instanceof Error?e.message:String(e)}async function lt(e,t,n,r,i,a,o,s){let c=e=>i({mood:`bad`,text:e}),l=await fe();a(l);let u=await pe(l,e=>e!==`page`||!new URLSearchParams(location.search).has(`process`)),d=new Me(u,o,c);t(await F(u,`catalogue`));let f=await dt(l.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
format = 2
name = "play"
title = "Four TCP flows and one that does not slow down"
duration = "120 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "fq-codel"]

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "100 packets"

[[flow]]
group = "near"
count = 2
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "2 ms" }
start = "0 s..1 s"

[[flow]]
group = "far"
count = 2
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "20 ms" }
start = "0 s..1 s"

[[flow]]
group = "flood"
source = { cbr = { rate = "3 Mbit/s", packet = "1000 B" } }
access = { rate = "100 Mbit/s", delay = "5 ms" }
`,c),p=!m();await s(d,f.scenario,p)?(n(f.lesson),r(ut(d,f.scenario,f.lesson))):await s(d,l.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
format = 2
name = "play"
title = "Four TCP flows and one that does not slow down"
duration = "120 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "fq-codel"]

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "100 packets"

[[flow]]
group = "near"
count = 2
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "2 ms" }
start = "0 s..1 s"

[[flow]]
group = "far"
count = 2
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "20 ms" }
start = "0 s..1 s"

[[flow]]
group = "flood"
source = { cbr = { rate = "3 Mbit/s", packet = "1000 B" } }
access = { rate = "100 Mbit/s", delay = "5 ms" }
`,p),e(d)}function ut(e,t,n){return e.about?.lesson?{name:n,scenario:t,toml:e.about.toml}:null}async function dt(e,t){try{let t=await ze(location.hash);if(!t)return{scenario:e,lesson:``};if(`scenario`in t)return{scenario:t.scenario,lesson:``};let n=G.find(e=>e.name===t.lesson);if(n)return{scenario:n.scenario,lesson:n.name};throw Error(`there is no lesson \`${t.lesson}\``)}catch(n){return t(`The address says what to show, but ${$(n)}. This is the contest that the page begins with.`),{scenario:e,lesson:``}}}function ft({game:e,view:t,setView:n,clear:r,fail:i}){let[a,o]=g(e.speed);return l(`div`,{class:`transport controls`,role:`toolbar`,"aria-label":`time`,children:[l(`button`,{type:`button`,class:`primary`,onClick:()=>e.setPlaying(!e.isPlaying),disabled:e.isOver,children:e.isPlaying?`Pause`:`Play`}),l(`button`,{type:`button`,onClick:()=>void e.step(),disabled:e.isOver,children:`Step`}),l(`button`,{type:`button`,onClick:()=>{r(),pt(e).catch(e=>i($(e)))},children:`Restart`}),l(`label`,{children:[`speed`,` `,l(`select`,{value:a,onChange:t=>{e.speed=Number(t.currentTarget.value),o(e.speed)},children:Ae.map(e=>l(`option`,{value:e,children:e<1?`1/${Math.round(1/e)}`:`${e}×`},e))})]}),l(`label`,{children:[`shows`,` `,l(`select`,{value:t.span,onChange:e=>n({...t,span:Number(e.currentTarget.value)}),children:rt.map(e=>l(`option`,{value:e,children:[e,` s`]},e))})]}),l(`label`,{children:[`rates over`,` `,l(`select`,{value:t.smooth,onChange:e=>n({...t,smooth:Number(e.currentTarget.value)}),children:it.map(e=>l(`option`,{value:e,children:[e*10,` ms`]},e))})]})]})}async function pt(e){e.about&&(await e.start(e.about.toml),e.setPlaying(!0))}function mt({game:e,view:t,kernel:n}){let[r,i]=g(0),[a,s]=g(0);o(()=>{let t=0,n=-1,r=0,a=m(),o=c=>{t=requestAnimationFrame(o),e.tick(c);let l=c-r>=(a?ot:at);e.frames===n||a&&!l&&e.isPlaying||(n=e.frames,i(n),(l||!e.isPlaying)&&(r=c,s(n)))};return t=requestAnimationFrame(o),()=>cancelAnimationFrame(t)},[e]);let{about:c}=e;return!c||e.sides.length===0?null:l(`div`,{class:`right`,children:[l(`p`,{class:`says`,children:[l(`span`,{class:`clock number`,"data-now":e.now,children:[e.now.toFixed(2),` s`]}),` `,`of `,u(c.duration_s),`; simulated `,e.door.place,`, seed `,c.seed,`.`,` `,c.sides.map((t,n)=>{let r=e.sides[n];return r?l(`span`,{children:[l(`strong`,{children:t}),`: `,Q(r)===void 0?`no fair share is worked out for this contest`:ht($e(r)),`.`,` `]},t):null}),e.isOver&&l(`strong`,{children:`The run is at its end.`})]}),l(Je,{game:e,about:c,view:t,version:r,slow:a,kernel:n})]})}function ht(e){if(Number.isNaN(e))return`nothing was sent in the last second`;let t=s(e);return e>.95?`fair in the last second (Jain ${t})`:e>.8?`nearly fair (Jain ${t})`:`unfair (Jain ${t})`}function gt(e){let[t,n]=g(!1),r=async()=>{n(!0);try{e.setKernel(await _e(e.about.toml))}catch(t){e.fail(`The contest could not run on this machine's kernel.\n${$(t)}`)}finally{n(!1)}};return l(`fieldset`,{class:`take`,children:[l(`legend`,{children:`On this machine's kernel`}),l(`button`,{type:`button`,disabled:t,onClick:()=>void r(),children:t?`Running…`:`Run it between real sockets`}),l(`span`,{class:`faint small`,children:`ten seconds for each discipline; needs root or user namespaces`})]})}function _t({game:e,view:t,lesson:n,fail:r}){let{about:i}=e;if(!i)return null;let a=()=>{let n=(e,t)=>({...t,title:`${t.title}, ${e}`}),r=[...e.sides.map((e,r)=>n(i.sides[r],Y(i,e,t))),...e.sides.map((e,r)=>n(i.sides[r],X(i,e,t))).filter(e=>e.series.length>0),Ke(i,e.sides,t),qe(i,e.sides,t)];return we(i.title||i.name,r)},{name:o}=i,s=(e,t)=>new Blob([e],{type:t}),c=async()=>{n===``&&history.replaceState(null,``,await K({scenario:i.toml})),await navigator.clipboard.writeText(location.href)};return l(`fieldset`,{class:`take`,children:[l(`legend`,{children:`Take along`}),l(`button`,{type:`button`,onClick:()=>z(`${o}.toml`,s(i.toml,`text/plain`)),children:`Scenario`}),l(`button`,{type:`button`,onClick:()=>z(`${o}.csv`,s(ke(i,e),`text/csv`)),children:`CSV`}),l(`button`,{type:`button`,onClick:()=>z(`${o}.svg`,s(a(),`image/svg+xml`)),children:`SVG`}),l(`button`,{type:`button`,onClick:()=>void De(a()).then(e=>z(`${o}.png`,e)).catch(e=>r($(e))),children:`PNG`}),l(`button`,{type:`button`,onClick:()=>void c().catch(e=>r($(e))),children:`Copy address`})]})}var vt=document.getElementById(`page`);vt&&_(l(st,{}),vt);
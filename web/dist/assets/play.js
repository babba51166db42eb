import{_ as e,a as t,b as n,c as r,d as i,f as a,g as o,h as s,i as c,m as l,o as u,p as d,r as f,s as p,t as m,u as h,v as g,y as _}from"./kit.js";var v=200;function y(t){let[n,i]=e(t.text);s(()=>i(t.text),[t.text]);let{min:a,max:o,value:c}=t,l=t.isLogarithmic??!1,u=e=>l?v*Math.log(e/a)/Math.log(o/a):e,d=e=>l?a*(o/a)**(e/v):e,f=()=>{n.trim()!==``&&n!==t.text&&t.change(n.trim())};return r(`div`,{class:`slider`,children:[r(`label`,{children:[r(`span`,{children:t.label}),r(`input`,{type:`text`,value:n,"aria-label":`${t.label}, as text`,onInput:e=>i(e.currentTarget.value),onBlur:f,onKeyDown:e=>e.key===`Enter`&&f()})]}),c!==null&&r(`input`,{type:`range`,"aria-label":t.label,"aria-valuetext":t.text,min:l?0:a,max:l?v:o,step:l?1:t.step??1,value:u(Math.min(o,Math.max(a,c))),onInput:e=>i(t.write(d(Number(e.currentTarget.value)))),onChange:e=>t.change(t.write(d(Number(e.currentTarget.value))))})]})}function b(e){return r(`label`,{class:`choice`,children:[r(`span`,{children:e.label}),r(`select`,{value:e.value,onChange:t=>e.change(t.currentTarget.value),children:e.options.map(({name:e,text:t})=>r(`option`,{value:e,children:t},e))})]})}var x={"bit/s":1,"kbit/s":1e3,"Mbit/s":1e6,"Gbit/s":1e9,s:1,ms:.001,us:1e-6,ns:1e-9,packets:1,packet:1,B:1,kB:1e3,KiB:1024,MB:1e6,MiB:1048576};function S(e){if(typeof e==`number`)return e;if(typeof e!=`string`)return null;let t=/^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/]+)\s*$/.exec(e),n=t?x[t[2]??``]:void 0;return t&&n!==void 0?Number(t[1])*n:null}var C=e=>String(Number(e.toPrecision(3))),w={rate:e=>e>=1e6?`${C(e/1e6)} Mbit/s`:`${C(e/1e3)} kbit/s`,time:e=>e>=1?`${C(e)} s`:`${C(e*1e3)} ms`,packets:e=>`${Math.max(1,Math.round(Number(e.toPrecision(3))))} packets`,count:e=>String(Math.round(e))},T=e=>typeof e==`object`&&!Array.isArray(e),E=e=>Array.isArray(e)&&e.length>0&&e.every(T);function D(e){return/^[A-Za-z0-9_-]+$/.test(e)?e:JSON.stringify(e)}function O(e){return typeof e==`string`?JSON.stringify(e):Array.isArray(e)?`[${e.map(O).join(`, `)}]`:T(e)?`{ ${Object.entries(e).map(([e,t])=>`${D(e)} = ${O(t)}`).join(`, `)} }`:String(e)}function ee(e){let t=Object.entries(e),n=t.filter(([,e])=>!T(e)&&!E(e)).map(([e,t])=>`${D(e)} = ${O(t)}`);for(let[e,r]of t)if(T(r))n.push(``,`[${D(e)}]`,...te(r));else if(E(r)&&e!==`disciplines`)for(let t of r)n.push(``,`[[${D(e)}]]`,...te(t));else E(r)&&n.unshift(`${D(e)} = ${O(r)}`);return`${n.join(`
`)}\n`}function te(e){return Object.entries(e).map(([e,t])=>`${D(e)} = ${O(t)}`)}function k(e,t){let n=e;for(let e of t){if(n===void 0||typeof n!=`object`)return;n=n[e]}return n}function ne(e,t,n){let r=structuredClone(e),i=r;for(let e of t.slice(0,-1)){let t=i[e];(t===void 0||typeof t!=`object`)&&(i[e]={}),i=i[e]}let a=t[t.length-1];return a===void 0||(n===void 0?delete i[a]:i[a]=n),r}var A=e=>e===void 0?``:typeof e==`object`?JSON.stringify(e):String(e);function re(e){let{about:t}=e;return r(`div`,{class:`contest`,children:[r(ae,{...e}),t.document.link!==void 0&&!Array.isArray(t.document.link)&&r(ie,{...e}),r(se,{...e})]})}function ie({about:e,edit:t}){let n=t=>k(e.document,[`link`,t]);return r(`fieldset`,{children:[r(`legend`,{children:`Link`}),r(y,{label:`rate`,text:A(n(`rate`)),value:S(n(`rate`)),min:1e6,max:1e8,isLogarithmic:!0,write:w.rate,change:e=>t([`link`,`rate`],e)}),r(y,{label:`buffer`,text:A(n(`buffer`)),value:A(n(`buffer`)).includes(`packet`)?S(n(`buffer`)):null,min:5,max:2e3,isLogarithmic:!0,write:w.packets,change:e=>t([`link`,`buffer`],e)}),r(y,{label:`delay, one way`,text:A(n(`delay`)),value:S(n(`delay`)),min:.001,max:.2,isLogarithmic:!0,write:w.time,change:e=>t([`link`,`delay`],e)})]})}function ae({about:e,parts:t,edit:n}){let i=t.filter(e=>e.kind===`discipline`),a=[...new Set([...i.map(e=>e.name),...e.sides])].map(e=>({name:e,text:e})),o=(t,r)=>{let i=e.sides.slice(0,2);r===``?i.splice(t,1):i[t]=r;let a=k(e.document,[`disciplines`])??[];n([`disciplines`],i.map(t=>a[e.disciplines.indexOf(t)]??t))};return r(`fieldset`,{children:[r(`legend`,{children:`Disciplines`}),r(b,{label:`A`,value:e.sides[0]??``,options:a,change:e=>o(0,e)}),r(b,{label:`B`,value:e.sides[1]??``,options:[{name:``,text:`none`},...a.filter(({name:t})=>t!==e.sides[0])],change:e=>o(1,e)}),e.sides.map(t=>r(oe,{side:t,part:i.find(e=>e.name===t),about:e,edit:n},t))]})}function oe(e){let{side:t,part:n,about:i,edit:a}=e;return!n||n.fields.length===0?null:r(`details`,{children:[r(`summary`,{children:[`parameters of `,t]}),r(`p`,{class:`faint small`,children:n.summary}),n.fields.map(e=>{let t=[`discipline`,n.name,e.name];return r(`label`,{class:`parameter`,title:`${e.text}${e.range?` (${e.range})`:``}`,children:[r(`span`,{children:e.name}),r(`input`,{type:`text`,value:A(k(i.document,t)),placeholder:e.default,onChange:e=>a(t,j(e.currentTarget.value))})]},e.name)})]})}function j(e){let t=e.trim();if(t!==``)return t===`true`||t===`false`?t===`true`:Number.isFinite(Number(t))?Number(t):t}function se({about:e,parts:t,edit:n}){let i=e.document.flow??[],a=e=>{let r=i.map(e=>A(e.group)),a=e;for(let t=2;r.includes(a);t+=1)a=`${e}-${t}`;n([`flow`],[...i,M(a,e,t)])};return r(`fieldset`,{children:[r(`legend`,{children:`Who sends`}),i.map((a,o)=>r(ce,{group:a,index:o,about:e,parts:t,edit:n,isLast:i.length===1},`${o} ${A(a.group)}`)),r(`div`,{class:`add`,children:[r(`span`,{class:`faint small`,children:`add`}),[[`bulk`,`TCP`],[`cbr`,`UDP`],[`web`,`web`],[`voip`,`call`]].map(([e,t])=>r(`button`,{type:`button`,onClick:()=>a(e??``),children:[`+ `,t]},e))]})]})}function M(e,t,n){let r=n.find(e=>e.kind===`source`&&e.name===t),i=r?.is_tcp?{tcp:{control:`cubic`,recovery:`sack`}}:{};return{group:e,source:r?.typed??t,...i,access:{rate:`100 Mbit/s`,delay:`5 ms`}}}function N(e){return typeof e==`object`&&!Array.isArray(e)?Object.keys(e)[0]??``:A(e)}function ce({group:e,index:t,about:n,parts:i,edit:a,isLast:o}){let s=A(e.group),c=N(e.source),l=i.find(e=>e.kind===`source`&&e.name===c),u=(...e)=>[`flow`,t,...e],d=k(e,[`source`,c,`rate`]),f=()=>a([`flow`],(n.document.flow??[]).filter((e,n)=>n!==t)),p=i.filter(e=>e.kind===`source`&&e.name!==`replay`);return r(`div`,{class:`sender`,role:`group`,"aria-label":`senders ${s}`,children:[r(`div`,{class:`sender-head`,children:[r(`strong`,{children:s}),r(`button`,{type:`button`,class:`quiet`,disabled:o,"aria-label":`remove ${s}`,onClick:f,children:`remove`})]}),r(b,{label:`sends`,value:c,options:p.map(e=>({name:e.name,text:e.is_tcp?`${e.name} (TCP)`:`${e.name} (UDP)`})),change:t=>{let{access:n,start:r,count:o}=e,c=M(s,t,i);a(u(),{...c,access:n??c.access??{},...r?{start:r}:{},...o?{count:o}:{}})}}),l?.is_tcp&&r(le,{group:e,path:u,parts:i,edit:a}),r(y,{label:`how many`,text:A(e.count??1),value:Number(e.count??1),min:1,max:50,write:w.count,change:e=>a(u(`count`),j(e))}),d!==void 0&&r(y,{label:`rate`,text:A(d),value:S(d),min:1e5,max:1e8,isLogarithmic:!0,write:w.rate,change:e=>a(u(`source`,c,`rate`),e)}),r(ue,{group:e,about:n,path:u,edit:a})]})}function le(e){let t=N(k(e.group,[`tcp`,`control`]))||`reno`,n=e.parts.filter(e=>e.kind===`controller`);return r(b,{label:`TCP`,value:t,options:n.map(e=>({name:e.name,text:e.name})),change:t=>{let n=e.group.tcp??{};e.edit(e.path(`tcp`),{...n,control:t,...t===`reno`?{}:{recovery:`sack`}})}})}function ue(e){let t=S(k(e.about.document,[`link`,`delay`])),n=S(k(e.group,[`access`,`delay`]));if(t===null||n===null){let t=A(k(e.group,[`access`,`delay`]));return r(y,{label:`own delay, one way`,text:t,value:null,min:0,max:1,write:w.time,change:t=>e.edit(e.path(`access`,`delay`),t)})}let i=2*t;return r(y,{label:`RTT without queue`,text:w.time(i+4*n),value:i+4*n,min:Math.max(.002,i),max:i+.4,isLogarithmic:!0,write:w.time,change:t=>{let n=S(t),r=n===null?null:Math.max(0,(n-i)/4);e.edit(e.path(`access`,`delay`),r===null?t:`${Number((r*1e3).toPrecision(4))} ms`)}})}async function de(){let e=await(await fetch(`./server.json`)).json();return{hasPlayer:e.hasPlayer===!0,hasKernel:e.hasKernel===!0,scenario:typeof e.scenario==`string`?e.scenario:null}}async function fe(e,t){if(t(`page`)&&typeof WebAssembly==`object`&&typeof DecompressionStream==`function`)try{return await pe()}catch(t){if(!e.hasPlayer)throw t}if(!e.hasPlayer)throw Error("this browser has no WebAssembly, and no process serves this page: run `fairwire play`");return me()}var P=new TextDecoder;async function pe(){let e=new Worker(new URL(new URL(`worker.js`,import.meta.url).href,``+import.meta.url),{type:`module`}),t=new Map,n=0,r=e=>{for(let{reject:n}of t.values())n(Error(e));t.clear()};e.onmessage=({data:e})=>{let n=t.get(e.id);t.delete(e.id),e.isError?n?.reject(Error(P.decode(e.bytes))):n?.resolve(e.bytes)},e.onerror=e=>r(`the simulator stopped: ${e.message}`);let i=(r,i)=>new Promise((a,o)=>{n+=1,t.set(n,{resolve:a,reject:o}),e.postMessage({id:n,name:r,input:i===void 0?``:JSON.stringify(i)})});return await i(`catalogue`),{place:`in this page (WebAssembly)`,call:i}}function me(){let e=crypto.getRandomValues(new Uint32Array(2)).join(`-`);return{place:`in the process that serves this page`,call:async(t,n)=>{let r=n===void 0?``:JSON.stringify(n),i=await fetch(`./player/${e}/${t}`,{method:`POST`,body:r}),a=new Uint8Array(await i.arrayBuffer());if(!i.ok)throw Error(P.decode(a));return a}}}async function F(e,t,n){return JSON.parse(P.decode(await e.call(t,n)))}var he=[{name:`lab`,text:`kernel`,dash:[]},{name:`sim`,text:`simulated`,dash:[4,3]}];async function ge(e){let t=await fetch(`./kernel`,{method:`POST`,body:e}),n=await t.text();if(!t.ok)throw Error(n);return n}function _e(e,t){let n=ve(e),r=[...new Set(t.flows.map(e=>e.group))];return[...n].map(([e,t])=>{let n=r.flatMap((e,t)=>he.map(n=>({group:e,colour:t,stage:n})));return{title:`On this machine's kernel, under ${e}`,axis:`rate of each group: kernel, and simulated (dashed)`,series:n.map(({group:e,colour:t,stage:n})=>({name:`${e}, ${n.text}`,colour:t,dash:n.dash})),data:()=>[Float64Array.from(t.times),...n.map(({group:e,stage:n})=>{let r=t.rates.get(`${n.name} ${e}`)??[];return Float64Array.from(t.times,(e,t)=>r[t]??NaN)})],format:a}})}function ve(e){let t=new Map;for(let n of e.split(`
`).slice(1)){let[e=``,r=``,,i=``,a,o=``,s,,c=``]=n.split(`,`);if(a!==`group`||s!==`egress`)continue;let l=t.get(e)??{times:[],rates:new Map};t.set(e,l);let u=l.times.indexOf(Number(i));u<0&&(u=l.times.push(Number(i))-1);let d=`${r} ${o}`,f=l.rates.get(d)??[];l.rates.set(d,f),f[u]=Number(c)}return t}var I={at:0,packets:1,bytes:2,link:3,mean:4,p50:5,p99:6},L=7,R={rate:0,offered:1,dropped:2,window:3},z=4,ye=8e6,be=class{flows;causes;width;rows=0;levels=[];dropped;droppedOf;numbers;constructor(e,t){this.flows=e,this.causes=t,this.width=L+t+z*e,this.numbers=new Float64Array(this.width*1024),this.dropped=new Float64Array(t),this.droppedOf=new Float64Array(e)}add(e){let t=e.length/this.width;this.makeRoom(t),this.numbers.set(e,this.rows*this.width);for(let n=0;n<t;n+=1){let t=n*this.width;for(let n=0;n<this.causes;n+=1)this.dropped[n]=(this.dropped[n]??0)+(e[t+L+n]??0);for(let n=0;n<this.flows;n+=1)this.droppedOf[n]=(this.droppedOf[n]??0)+(e[t+this.column(n,R.dropped)]??0)}this.rows+=t}at(e,t){return this.numbers[e*this.width+t]??NaN}column(e,t){return L+this.causes+z*e+t}makeRoom(e){if((this.rows+e)*this.width>ye&&this.rows>1){let e=Math.floor(this.rows/2);this.numbers.copyWithin(0,(this.rows-e)*this.width,this.rows*this.width),this.rows=e}let t=(this.rows+e)*this.width;if(t<=this.numbers.length)return;let n=new Float64Array(Math.max(t,2*this.numbers.length));n.set(this.numbers.subarray(0,this.rows*this.width)),this.numbers=n}from(e){return this.at(this.rows-1,I.at),Math.max(0,this.rows-Math.round(e/.01),0)}means(e,t,n,r){let i=Math.ceil(t/n)*n,a=Math.max(0,Math.ceil((this.rows-i)/n)),o=new Float64Array(a);for(let e=0;e<a;e+=1)o[e]=this.at(i+e*n,I.at);return[o,...e.map(e=>this.smoothed(e,i,a,n,r))]}smoothed(e,t,n,r,i){let{numbers:a,width:o}=this,s=new Float64Array(n),c=Math.max(i,r),l=0,u=0,d=Math.max(0,t-c+1),f=d;for(let i=0;i<n;i+=1){let n=t+i*r;for(;f<=n;f+=1){let t=a[f*o+e]??NaN;t===t&&(l+=t,u+=1)}for(;d<=n-c;d+=1){let t=a[d*o+e]??NaN;t===t&&(l-=t,--u)}s[i]=u>0?Math.max(0,l/u):NaN}return s}};function xe(e,t){let n=new Float64Array(e.buffer,e.byteOffset,e.byteLength/8),r=3;for(let e of t){let t=n[r]??0,i=n[r+2]??0;r+=3,e.levels=Array.from({length:t},(e,t)=>({demand:n[r+3*t]??0,delivered:n[r+3*t+1]??0,share:n[r+3*t+2]??0})),r+=3*t,e.add(n.subarray(r,r+i*e.width)),r+=i*e.width}return{now:n[0]??0,isOver:n[1]===1}}function B(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(t),n.download=e,n.click(),setTimeout(()=>URL.revokeObjectURL(n.href),1e4)}var V=e=>e.replace(/[&<>"]/g,e=>({"&":`&amp;`,"<":`&lt;`,">":`&gt;`,'"':`&quot;`})[e]??e),H=880,U=250,W=90,G={top:48,bottom:44,right:16};function Se(e,t){let n=c(),r=40+t.length*U,i=t.map((e,t)=>Ce(e,40+t*U,n));return`<svg xmlns="http://www.w3.org/2000/svg" width="${H}" height="${r}" viewBox="0 0 ${H} ${r}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${n.card}"/>
<text x="16" y="27" font-size="17" font-weight="600" fill="${n.text}">${V(e)}</text>
${i.join(`
`)}
</svg>
`}function Ce(e,n,r){let[i=new Float64Array,...a]=e.data(),o=i[0]??0,s=i[i.length-1]??1,c=0;for(let e of a)for(let t of e)t>c&&(c=t);let l=c*1.06||1,u=e=>W+(790-G.right)*(e-o)/(s-o||1),d=e=>n+U-G.bottom-(U-G.top-G.bottom)*(e/l),f=[0,.25,.5,.75,1].map(e=>e*l).map(t=>`<line x1="${W}" x2="${H-G.right}" y1="${d(t).toFixed(1)}" y2="${d(t).toFixed(1)}" stroke="${r.grid}"/>
<text x="84" y="${(d(t)+4).toFixed(1)}" text-anchor="end" fill="${r.faint}">${V(e.format(t))}</text>`),p=a.map((n,a)=>{let o=e.series[a],s=r.series[(o?.colour??a)%9]??r.text,c=(o?.dash??t(o?.colour??a)).join(` `);return`<path d="${we(i,n,u,d)}" fill="none" stroke="${s}" stroke-width="1.5" stroke-dasharray="${c}"/>`}),m=[...new Set(e.series.map(e=>e.group??e.name))],h=W,g=m.slice(0,12).map(t=>{let i=e.series.findIndex(e=>(e.group??e.name)===t),a=r.series[(e.series[i]?.colour??i)%9]??r.text,o=`<rect x="${h}" y="${n+U-22}" width="14" height="4" fill="${a}"/><text x="${h+18}" y="${n+U-16}" fill="${r.text}">${V(t)}</text>`;return h+=34+t.length*7,o});return`<text x="16" y="${n+20}" font-weight="600" fill="${r.text}">${V(e.title)}</text>
<text x="16" y="${n+36}" fill="${r.faint}">${V(e.axis)}; ${o.toFixed(1)} s to ${s.toFixed(1)} s</text>
${f.join(`
`)}
${p.join(`
`)}
${g.join(`
`)}`}function we(e,t,n,r){let i=``,a=!1;for(let o=0;o<t.length;o+=1){let s=t[o]??NaN;Number.isNaN(s)?a=!1:(i+=`${a?`L`:`M`}${n(e[o]??0).toFixed(1)} ${r(s).toFixed(1)}`,a=!0)}return i}async function Te(e){let t=URL.createObjectURL(new Blob([e],{type:`image/svg+xml`}));try{let e=new Image;e.src=t,await e.decode();let n=document.createElement(`canvas`);return n.width=2*e.width,n.height=2*e.height,n.getContext(`2d`)?.drawImage(e,0,0,n.width,n.height),await new Promise((e,t)=>n.toBlob(n=>n?e(n):t(Error(`the browser makes no PNG of it`))))}finally{URL.revokeObjectURL(t)}}function Ee(e,t){let n=e.flows.flatMap(e=>[`${e.name}.rate_bps`,`${e.name}.window_segments`]),r=[[`time_s`,`discipline`,`queue_packets`,`queue_bytes`,`wait_mean_s`,`wait_p50_s`,`wait_p99_s`,...e.causes.map(e=>`drops.${e}`),...n].join(`,`)],i=e=>Number.isNaN(e)?``:String(e);return t.forEach((t,n)=>{let a=e.sides[n]??``,o=/[",]/.test(a)?`"${a.replaceAll(`"`,`""`)}"`:a;for(let n=0;n<t.rows;n+=1){let a=[I.packets,I.bytes,I.mean,I.p50,I.p99].map(e=>i(t.at(n,e))),s=e.causes.map((e,r)=>i(t.at(n,I.p99+1+r))),c=e.flows.flatMap((e,r)=>[i(t.at(n,t.column(r,R.rate))),i(t.at(n,t.column(r,R.window)))]);r.push([i(t.at(n,I.at)),o,...a,...s,...c].join(`,`))}}),`${r.join(`
`)}\n`}var De=[.05,.25,1,4,16],Oe=.5,ke=class{door;changed;failed;about=null;sides=[];now=0;isOver=!1;isPlaying=!1;isBusy=!1;isRushing=!1;speed=1;result=null;frames=0;run=0;last=0;constructor(e,t,n){this.door=e,this.changed=t,this.failed=n}async start(e){let t=++this.run;this.isBusy=!0;try{let n=await F(this.door,`start`,{scenario:e});if(t!==this.run)return;this.about=n,this.sides=n.sides.map(()=>new be(n.flows.length,n.causes.length)),this.now=0,this.isOver=!1,this.isRushing=!1,this.result=null,this.last=0}finally{t===this.run&&(this.isBusy=!1),this.changed()}await this.advance(Ae(this.about))}async set(e){for(;this.isBusy;)await new Promise(e=>setTimeout(e,1));this.isBusy=!0;try{return this.about=await F(this.door,`set`,{set:e}),!0}catch(e){if(String(e).includes(`all else needs a new run`))return!1;throw e}finally{this.isBusy=!1,this.changed()}}setPlaying(e){this.isPlaying=e&&!this.isOver,this.isRushing=!1,this.last=0,this.changed()}rush(){this.isPlaying=!this.isOver,this.isRushing=!0,this.changed()}async step(){this.setPlaying(!1),await this.advance(this.now+Ae(this.about))}tick(e){if(!this.isPlaying||this.isBusy||!this.about)return;let t=this.last===0?1/60:Math.min(.1,(e-this.last)/1e3),n=this.isRushing?Oe:Math.min(Oe,t*this.speed),r=Math.min(this.target(e)+n,this.about.duration_s);this.last=e,this.wanted=r,(r-this.now>=this.about.sample_s||r>=this.about.duration_s)&&this.advance(r)}wanted=0;target(e){let t=this.about?.sample_s??.01;return this.wanted>this.now&&this.wanted<this.now+2*t?this.wanted:this.now}async advance(e){if(this.isBusy||!this.about)return;let t=this.run;this.isBusy=!0;try{let n=await this.door.call(`advance`,{to_s:e+1e-6});if(t!==this.run)return;let r=xe(n,this.sides);this.now=r.now,this.frames+=1,r.isOver&&!this.isOver&&await this.end()}catch(e){this.isPlaying=!1,this.failed(String(e instanceof Error?e.message:e))}finally{t===this.run&&(this.isBusy=!1)}}async end(){this.result=await F(this.door,`result`),this.isOver=!0,this.isPlaying=!1,this.isRushing=!1,this.changed()}};function Ae(e){return e?.sample_s??.01}var K=Object.entries(Object.assign({"../../../lessons/01-distance.toml":`# A full buffer refuses everybody alike, and TCP takes longer to come back over a longer way.

format = 2
name = "lesson-distance"
title = "Why tail-drop starves long round-trip times"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "faba"]

[lesson]
question = "Four TCP flows share a link. Their round-trip times are 10, 20, 50 and 200 ms. Does a plain queue share fairly?"
look = "Watch the windows: the nearest flow's saw has many teeth in the time of one tooth of the furthest. Then move the RTT of the group."
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
`,"../../../lessons/03-tokens.toml":`# A bucket for each flow: what has spent its tokens is dropped, and nobody else pays for it.

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
`})).sort(([e],[t])=>e<t?-1:1).map(([e,t])=>({name:e.replace(/^.*\/(?:\d+-)?/,``).replace(/\.toml$/,``),title:/^title = "(.*)"$/m.exec(t)?.[1]??e,scenario:t}));function je({game:e,about:t,lesson:n}){return r(`section`,{class:`card lesson`,"aria-label":`lesson`,children:[r(`h2`,{children:t.title}),r(`p`,{class:`question`,children:n.question}),n.look&&r(`p`,{class:`faint`,children:n.look}),e.result?r(Me,{result:e.result,lesson:n}):r(`p`,{children:r(`button`,{type:`button`,class:`primary`,onClick:()=>e.rush(),disabled:e.isRushing,children:e.isRushing?`${i(e.now/t.duration_s,2)} done`:`Run to the end and answer`})})]})}function Me({result:e,lesson:t}){return r(`div`,{class:`answer`,role:`status`,children:[r(`dl`,{children:e.map(e=>{let n=e.measures[t.measure];return r(`div`,{children:[r(`dt`,{children:e.discipline}),r(`dd`,{class:`number`,"data-discipline":e.discipline,"data-measure":t.measure,"data-value":n,children:n===void 0?`–`:l(n)})]},e.discipline)})}),r(`p`,{class:`faint small`,children:t.reads}),r(`p`,{children:t.answer}),t.figure&&r(`p`,{class:`faint small`,children:[`The same as a figure: `,r(`code`,{children:[`fairwire reproduce `,t.figure]})]})]})}var Ne=32768,Pe=262144,Fe=async(e,t)=>new Response(new Response(e).body?.pipeThrough(t));async function q(e){if(`lesson`in e)return`#lesson=${encodeURIComponent(e.lesson)}`;let t=new Uint8Array(await(await Fe(new TextEncoder().encode(e.scenario),new CompressionStream(`deflate-raw`))).arrayBuffer());return`#scenario=${btoa(String.fromCharCode(...t)).replaceAll(`+`,`-`).replaceAll(`/`,`_`).replaceAll(`=`,``)}`}async function Ie(e){let t=e.replace(/^#/,``);if(t===``)return null;let[n,r=``]=t.split(`=`,2);if(n===`lesson`)return{lesson:decodeURIComponent(r)};if(n!==`scenario`)throw Error("it begins with neither `lesson=` nor `scenario=`");if(r.length>Ne)throw Error(`it is too long`);let i=atob(r.replaceAll(`-`,`+`).replaceAll(`_`,`/`)),a=(await Fe(Uint8Array.from(i,e=>e.charCodeAt(0)),new DecompressionStream(`deflate-raw`))).body;return{scenario:await Le(a)}}async function Le(e){let t=e?.getReader(),n=new TextDecoder(`utf-8`,{fatal:!0}),r=``;for(;;){let e=await t?.read();if(!e||e.done)return r+n.decode();if(r+=n.decode(e.value,{stream:!0}),r.length>Pe)throw await t?.cancel(),Error(`it unpacks to too much`)}}var Re=400,ze=160,Be=9;function J(e){let t=[...new Set(e.flows.map(e=>e.group))],n=e.flows.length>Be;return e.flows.map((e,r)=>{let i=n?t.indexOf(e.group):r;return n?{name:e.name,group:e.group,colour:i,width:1}:{name:e.name,colour:i}})}function Y(e,t){let n=e.from(t.span),r=e.flows>Be?ze:Re;return{first:n,stride:Math.max(1,Math.ceil((e.rows-n)/r),Math.ceil(t.span*100/r))}}function X(e,t,n){return{title:`Rate of each flow`,axis:`rate, mean of ${n.smooth*10} ms`,series:J(e),data:()=>{let{first:r,stride:i}=Y(t,n),a=e.flows.map((e,n)=>t.column(n,R.rate));return t.means(a,r,i,n.smooth)},format:a}}function Z(e,t,n){let r=e.flows.map((e,t)=>({flow:e,index:t})).filter(({flow:e})=>e.is_tcp),i=J(e);return{title:`Congestion window`,axis:`segments`,series:r.flatMap(({index:e})=>i[e]??[]),data:()=>{let{first:e,stride:i}=Y(t,n),a=r.map(({index:e})=>t.column(e,R.window));return t.means(a,e,i,1)},format:e=>l(e)}}function Ve(e,t,n,r){return{series:e.sides.flatMap((e,t)=>r.map(({suffix:n,dash:r})=>({name:`${e}${n}`,colour:t,dash:r}))),data:()=>{let e=t[0];if(!e)return[new Float64Array];let{first:i,stride:a}=Y(e,n),o=t.map(e=>e.means(r.map(({field:e})=>e),i,a,a));return[o[0]?.[0]??new Float64Array,...o.flatMap(([,...e])=>e)]}}}function He(e,t,n){return{title:`Queue`,axis:`packets that wait`,...Ve(e,t,n,[{field:I.packets,suffix:``,dash:[]}]),format:e=>l(e)}}function Ue(e,t,n){return{title:`Delay in the queue`,axis:`per interval: median, and 99th percentile (dashed)`,...Ve(e,t,n,[{field:I.p50,suffix:` p50`,dash:[]},{field:I.p99,suffix:` p99`,dash:[4,3]}]),format:d}}function We({game:e,about:t,view:n,version:i,slow:a,kernel:o}){let{sides:s}=e,c={version:i,span:[Math.max(0,e.now-n.span),Math.max(n.span,e.now)],cursor:`play`},l=s.length>1,u=g(()=>Math.max(...s.map(e=>Ke(e,t,n))),[a]),d=g(()=>Math.max(...s.map(e=>qe(e,t,n))),[a]),p=t.flows.some(e=>e.is_tcp);return r(`div`,{class:l?`pictures two`:`pictures`,children:[s.map((e,n)=>r(Xe,{about:t,side:e,index:n,slow:a},`water ${n}`)),s.map((e,i)=>r(Q,{title:`Rate of each flow`,side:t.sides[i],children:r(f,{...X(t,e,n),...c,range:[0,u*1.06||1],height:210})},`rates ${i}`)),p&&s.map((e,i)=>r(Q,{title:`Congestion window`,side:t.sides[i],children:r(f,{...Z(t,e,n),...c,range:[0,d*1.06||1],height:170})},`windows ${i}`)),r(Q,{title:`Queue`,children:r(f,{...He(t,s,n),...c,height:170})}),r(Q,{title:`Delay in the queue`,children:r(f,{...Ue(t,s,n),...c,height:170})}),r(Ge,{about:t,kernel:o}),r(Ze,{about:t,sides:s,slow:a})]})}function Ge({about:e,kernel:t}){return g(()=>t===null?null:r(_,{children:_e(t,e).map(e=>r(Q,{title:e.title,children:r(f,{...e,version:0,height:210})},e.title))}),[t,e])}function Q(e){return r(`section`,{class:`card`,children:[r(`header`,{children:r(`h2`,{children:[e.title,e.side&&r(`span`,{class:`side`,children:[` under `,e.side]})]})}),e.children]})}function Ke(e,t,n){let[,...r]=X(t,e,n).data();return Math.max(0,...r.map(Je))}function qe(e,t,n){let[,...r]=Z(t,e,n).data();return Math.max(0,...r.map(Je))}function Je(e){let t=0;for(let n of e)n>t&&(t=n);return t}function Ye(e){let t=e.levels.filter(e=>e.share>0).map(e=>e.delivered/e.share),n=t.reduce((e,t)=>e+t,0),r=t.reduce((e,t)=>e+t*t,0);return r>0?n*n/(t.length*r):NaN}function Xe(e){let{about:t,side:n,index:i,slow:o}=e;return g(()=>{let e=J(t),o=n.levels.map((n,r)=>({name:t.flows[r]?.name??``,demand:n.demand,delivered:n.delivered,colour:e[r]?.colour??0})),s=Math.max(0,...n.levels.map(e=>Number.isFinite(e.share)?e.share:0));return r(`section`,{class:`card`,children:[r(`header`,{children:[r(`h2`,{children:[`Who gets what `,r(`span`,{class:`side`,children:[`under `,t.sides[i]]})]}),r(`span`,{class:`faint small`,children:[`last second; Jain `,l(Ye(n))]})]}),r(m,{title:`What each flow wants and gets under ${t.sides[i]}`,levels:o,share:s,format:a,height:190})]})},[o,n])}function Ze(e){let{about:t,sides:n,slow:i}=e;return g(()=>{let e=[...new Set(t.flows.map(e=>e.group))],i=t.causes.map((e,t)=>({name:e,index:t})).filter(({index:e})=>n.some(t=>(t.dropped[e]??0)>0)),a=(e,n)=>t.flows.reduce((t,r,i)=>r.group===n?t+(e.droppedOf[i]??0):t,0);return r(`section`,{class:`card wide`,children:[r(`header`,{children:[r(`h2`,{children:`Drops`}),r(`span`,{class:`faint small`,children:`packets since the start`})]}),r(`div`,{class:`drops`,children:[r(p,{title:`Drops by cause`,columns:t.sides,rows:i.map(({name:e,index:t})=>({name:e,values:n.map(e=>e.dropped[t]??0)})),format:h}),r(p,{title:`Drops by who sent`,columns:t.sides,rows:e.map(e=>({name:e,values:n.map(t=>a(t,e))})),format:h})]})]})},[i,n])}var Qe=[2,5,10,30,120],$e=[1,5,10,25,100],et=100,tt=1e3;function nt(){let[t,n]=e(null),[i,a]=e([]),[c,l]=e(null),[u,d]=e(``),[f,p]=e({span:10,smooth:10}),[m,h]=e(null),[g,_]=e(null),[,v]=e(0),y=o(!1),b=e=>l({mood:`bad`,text:e}),x=async(e,t,n=!0)=>{try{return await e.start(t),e.setPlaying(n),!0}catch(e){return b($(e)),!1}};s(()=>{y.current||(y.current=!0,it(n,a,d,l,h,()=>v(e=>e+1),x).catch(e=>b($(e))))},[]);let S=async(e,n,r=!0)=>!t||!await x(t,e,r)?!1:(_(null),d(n),history.replaceState(null,``,await q(n?{lesson:n}:{scenario:e})),!0),C=async(e,n)=>{if(!t?.about)return;l(null);let r=ne(t.about.document,e,n);try{let r=e[0]===`disciplines`&&Array.isArray(n)&&n.length!==t.about.sides.length;if(n!==void 0&&!r&&!t.isOver&&await t.set([rt(t.about,e,n)])){d(``),l({mood:`plain`,text:`Changed at ${t.now.toFixed(2)} s; the run goes on.`}),history.replaceState(null,``,await q({scenario:t.about.toml}));return}}catch(e){return b($(e))}delete r.expect,delete r.lesson,await S(ee(r),``)&&l({mood:`plain`,text:`This needs a new run: it began again.`})},w=e=>{l(null);let t=K.find(t=>t.name===e);S(t?.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,t?e:``)},T=t?.about??null;return r(`main`,{class:`play`,children:[r(`header`,{class:`top`,children:[r(`h1`,{children:`fairwire play`}),r(`label`,{class:`pick`,children:[r(`span`,{class:`unseen`,children:`lesson`}),r(`select`,{value:u,onChange:e=>w(e.currentTarget.value),children:[r(`option`,{value:``,children:`free play`}),K.map((e,t)=>r(`option`,{value:e.name,children:[t+1,`. `,e.title]},e.name))]})]}),t&&T&&r(ot,{game:t,view:f,setView:p})]}),c&&r(`p`,{class:c.mood===`bad`?`notice bad`:`notice`,role:`alert`,children:c.text}),t&&T?r(`div`,{class:`body`,children:[r(`aside`,{"aria-label":`the contest`,children:[T.lesson&&r(je,{game:t,about:T,lesson:T.lesson}),r(re,{about:T,parts:i,edit:(e,t)=>void C(e,t)}),m?.hasKernel&&r(ut,{about:T,setKernel:_,fail:b}),r(dt,{game:t,view:f,fail:b})]}),r(ct,{game:t,view:f,kernel:g})]}):r(`p`,{class:`faint wait`,children:`The simulator is being loaded…`})]})}function rt(e,t,n){let r=e.document.flow;return`${t.map((e,n)=>{let i=n===1&&t[0]===`flow`&&Array.isArray(r)?r[Number(e)]:void 0;return String(typeof i==`object`&&!Array.isArray(i)?i.group:e)}).join(`.`)}=${O(n)}`}function $(e){return e instanceof Error?e.message:String(e)}async function it(e,t,n,r,i,a,o){let s=e=>r({mood:`bad`,text:e}),c=await de();i(c);let l=await fe(c,e=>e!==`page`||!new URLSearchParams(location.search).has(`process`)),d=new ke(l,a,s);t(await F(l,`catalogue`));let f=await at(c.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,s),p=!u();await o(d,f.scenario,p)?n(f.lesson):await o(d,c.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,p),e(d)}async function at(e,t){try{let t=await Ie(location.hash);if(!t)return{scenario:e,lesson:``};if(`scenario`in t)return{scenario:t.scenario,lesson:``};let n=K.find(e=>e.name===t.lesson);if(n)return{scenario:n.scenario,lesson:n.name};throw Error(`there is no lesson \`${t.lesson}\``)}catch(n){return t(`The address says what to show, but ${$(n)}. This is the contest that the page begins with.`),{scenario:e,lesson:``}}}function ot({game:t,view:n,setView:i}){let[a,o]=e(t.speed);return r(`div`,{class:`transport controls`,role:`toolbar`,"aria-label":`time`,children:[r(`button`,{type:`button`,class:`primary`,onClick:()=>t.setPlaying(!t.isPlaying),disabled:t.isOver,children:t.isPlaying?`Pause`:`Play`}),r(`button`,{type:`button`,onClick:()=>void t.step(),disabled:t.isOver,children:`Step`}),r(`button`,{type:`button`,onClick:()=>void st(t),children:`Restart`}),r(`label`,{children:[`speed`,` `,r(`select`,{value:a,onChange:e=>{t.speed=Number(e.currentTarget.value),o(t.speed)},children:De.map(e=>r(`option`,{value:e,children:e<1?`1/${Math.round(1/e)}`:`${e}×`},e))})]}),r(`label`,{children:[`shows`,` `,r(`select`,{value:n.span,onChange:e=>i({...n,span:Number(e.currentTarget.value)}),children:Qe.map(e=>r(`option`,{value:e,children:[e,` s`]},e))})]}),r(`label`,{children:[`rates over`,` `,r(`select`,{value:n.smooth,onChange:e=>i({...n,smooth:Number(e.currentTarget.value)}),children:$e.map(e=>r(`option`,{value:e,children:[e*10,` ms`]},e))})]})]})}async function st(e){e.about&&(await e.start(e.about.toml),e.setPlaying(!0))}function ct({game:t,view:n,kernel:i}){let[a,o]=e(0),[c,l]=e(0);s(()=>{let e=0,n=-1,r=0,i=u(),a=s=>{e=requestAnimationFrame(a),t.tick(s);let c=s-r>=(i?tt:et);t.frames===n||i&&!c&&t.isPlaying||(n=t.frames,o(n),(c||!t.isPlaying)&&(r=s,l(n)))};return e=requestAnimationFrame(a),()=>cancelAnimationFrame(e)},[t]);let{about:f}=t;return!f||t.sides.length===0?null:r(`div`,{class:`right`,children:[r(`p`,{class:`says`,children:[r(`span`,{class:`clock number`,"data-now":t.now,children:[t.now.toFixed(2),` s`]}),` `,`of `,d(f.duration_s),`; simulated `,t.door.place,`, seed `,f.seed,`.`,` `,f.sides.map((e,n)=>{let i=t.sides[n];return i?r(`span`,{children:[r(`strong`,{children:e}),`: `,lt(Ye(i)),`.`,` `]},e):null}),t.isOver&&r(`strong`,{children:`The run is at its end.`})]}),r(We,{game:t,about:f,view:n,version:a,slow:c,kernel:i})]})}function lt(e){if(Number.isNaN(e))return`nothing was sent in the last second`;let t=l(e);return e>.95?`fair in the last second (Jain ${t})`:e>.8?`nearly fair (Jain ${t})`:`unfair (Jain ${t})`}function ut(t){let[n,i]=e(!1),a=async()=>{i(!0);try{t.setKernel(await ge(t.about.toml))}catch(e){t.fail(`The contest could not run on this machine's kernel.\n${$(e)}`)}finally{i(!1)}};return r(`fieldset`,{class:`take`,children:[r(`legend`,{children:`On this machine's kernel`}),r(`button`,{type:`button`,disabled:n,onClick:()=>void a(),children:n?`Running…`:`Run it between real sockets`}),r(`span`,{class:`faint small`,children:`ten seconds for each discipline; needs root or user namespaces`})]})}function dt({game:e,view:t,fail:n}){let{about:i}=e;if(!i)return null;let a=()=>{let n=(e,t)=>({...t,title:`${t.title}, ${e}`}),r=[...e.sides.map((e,r)=>n(i.sides[r],X(i,e,t))),...e.sides.map((e,r)=>n(i.sides[r],Z(i,e,t))).filter(e=>e.series.length>0),He(i,e.sides,t),Ue(i,e.sides,t)];return Se(i.title||i.name,r)},{name:o}=i,s=(e,t)=>new Blob([e],{type:t}),c=async()=>{i.lesson===null&&history.replaceState(null,``,await q({scenario:i.toml})),await navigator.clipboard.writeText(location.href)};return r(`fieldset`,{class:`take`,children:[r(`legend`,{children:`Take along`}),r(`button`,{type:`button`,onClick:()=>B(`${o}.toml`,s(i.toml,`text/plain`)),children:`Scenario`}),r(`button`,{type:`button`,onClick:()=>B(`${o}.csv`,s(Ee(i,e.sides),`text/csv`)),children:`CSV`}),r(`button`,{type:`button`,onClick:()=>B(`${o}.svg`,s(a(),`image/svg+xml`)),children:`SVG`}),r(`button`,{type:`button`,onClick:()=>void Te(a()).then(e=>B(`${o}.png`,e)).catch(e=>n($(e))),children:`PNG`}),r(`button`,{type:`button`,onClick:()=>void c().catch(e=>n($(e))),children:`Copy address`})]})}var ft=document.getElementById(`page`);ft&&n(r(nt,{}),ft);
import{S as e,_ as t,a as n,b as r,c as i,f as a,g as o,h as s,i as c,l,m as u,n as d,o as f,p,s as m,t as h,u as g,v as _,x as v,y}from"./kit.js";var b=200;function x(e){let[n,r]=y(e.text),[i,a]=y(null),o=_(e.text);o.current=e.text,t(()=>{r(e.text),h(!1)},[e.text]);let{min:s,max:c,value:u}=e,d=e.isLogarithmic??!1,f=e=>d?b*Math.log(e/s)/Math.log(c/s):e,p=e=>d?s*(c/s)**(e/b):e,[m,h]=y(!1),g=async()=>{n.trim()!==``&&n!==e.text?h(!await e.change(n.trim())):h(!1)},v=t=>{a(t),r(e.write(p(t)))},x=async t=>{await e.change(e.write(p(t))),h(!1),a(null),r(o.current)};return l(`div`,{class:`slider`,children:[l(`label`,{children:[l(`span`,{children:e.label}),l(`input`,{type:`text`,value:n,"aria-label":`${e.label}, as text`,"aria-invalid":m,onInput:e=>r(e.currentTarget.value),onBlur:()=>void g(),onKeyDown:e=>e.key===`Enter`&&void g()})]}),m&&l(`p`,{class:`refused small`,children:[`not allowed; the run has `,e.text]}),u!==null&&l(`input`,{type:`range`,"aria-label":e.label,"aria-valuetext":e.text,min:d?0:s,max:d?b:c,step:d?1:e.step??1,value:i??f(Math.min(c,Math.max(s,u))),onInput:e=>v(Number(e.currentTarget.value)),onChange:e=>void x(Number(e.currentTarget.value))})]})}function S(e){return l(`label`,{class:`choice`,children:[l(`span`,{children:e.label}),l(`select`,{value:e.value,onChange:t=>e.change(t.currentTarget.value),children:e.options.map(({name:e,text:t})=>l(`option`,{value:e,children:t},e))})]})}var C={"bit/s":1,"kbit/s":1e3,"Mbit/s":1e6,"Gbit/s":1e9,s:1,ms:.001,us:1e-6,ns:1e-9,packets:1,packet:1,B:1,kB:1e3,KiB:1024,MB:1e6,MiB:1048576};function w(e){if(typeof e==`number`)return e;let t=T(e),n=t?C[t.unit]:void 0;return t&&n!==void 0?t.number*n:null}function T(e){let t=typeof e==`string`?/^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/]+)\s*$/.exec(e):null;return t?{number:Number(t[1]),unit:t[2]??``}:null}var ee={packets:[5,2e3],packet:[5,2e3],B:[7500,3e6],kB:[7.5,3e3],KiB:[7.5,3e3],MB:[.0075,3],MiB:[.0075,3],s:[.001,2],ms:[1,2e3],us:[1e3,2e6],bdp:[.1,10]};function te(e){let t=T(e),n=t?ee[t.unit]:void 0;if(!t||!n)return null;let{number:r,unit:i}=t,a=i.startsWith(`packet`)||i===`B`;return{value:r,min:n[0],max:n[1],write:e=>i.startsWith(`packet`)?D.packets(e):`${a?Math.round(e):E(e)} ${i}`}}var E=e=>String(Number(e.toPrecision(3))),D={rate:e=>e>=1e6?`${E(e/1e6)} Mbit/s`:`${E(e/1e3)} kbit/s`,time:e=>e>=1?`${E(e)} s`:`${E(e*1e3)} ms`,packets:e=>`${Math.max(1,Math.round(Number(e.toPrecision(3))))} packets`,count:e=>String(Math.round(e))},O=e=>typeof e==`object`&&!Array.isArray(e),k=e=>Array.isArray(e)&&e.length>0&&e.every(O);function A(e){return/^[A-Za-z0-9_-]+$/.test(e)?e:JSON.stringify(e)}function j(e){return typeof e==`string`?JSON.stringify(e):Array.isArray(e)?`[${e.map(j).join(`, `)}]`:O(e)?`{ ${Object.entries(e).map(([e,t])=>`${A(e)} = ${j(t)}`).join(`, `)} }`:String(e)}function ne(e){let t=Object.entries(e),n=t.filter(([,e])=>!O(e)&&!k(e)).map(([e,t])=>`${A(e)} = ${j(t)}`);for(let[e,r]of t)if(O(r))n.push(``,`[${A(e)}]`,...re(r));else if(k(r)&&e!==`disciplines`)for(let t of r)n.push(``,`[[${A(e)}]]`,...re(t));else k(r)&&n.unshift(`${A(e)} = ${j(r)}`);return`${n.join(`
`)}\n`}function re(e){return Object.entries(e).map(([e,t])=>`${A(e)} = ${j(t)}`)}function ie(e,t){return!Array.isArray(e)||typeof t==`number`?t:e.findIndex(e=>O(e)&&e.group===t)}function M(e,t){let n=e;for(let e of t){if(n===void 0||typeof n!=`object`)return;n=n[ie(n,e)]}return n}function ae(e,t,n){let r=structuredClone(e),i=r;for(let e of t.slice(0,-1)){let t=ie(i,e),n=i[t];(n===void 0||typeof n!=`object`)&&(i[t]={}),i=i[t]}let a=t[t.length-1];if(a===void 0)return r;let o=ie(i,a);return n===void 0?delete i[o]:i[o]=n,r}var N=e=>e===void 0?``:typeof e==`object`?JSON.stringify(e):String(e);function oe(e){return l(`div`,{class:`contest`,children:[l(de,{...e}),l(se,{...e}),l(he,{...e})]})}function se(e){let{document:t}=e.about,n=t.link,r=t.network;return O(n)?l(`fieldset`,{children:[l(`legend`,{children:`Link`}),l(ce,{...e,path:[`link`],table:n}),l(x,{label:`delay, one way`,text:N(n.delay),value:w(n.delay),min:.001,max:.2,isLogarithmic:!0,write:D.time,change:t=>e.edit([`link`,`delay`],t)})]}):Array.isArray(n)?l(v,{children:n.map((t,n)=>{let r=N(t.name)||`${N(t.from)}-${N(t.to)}`;return t.buffer===void 0?null:l(`fieldset`,{children:[l(`legend`,{children:[`Link `,r]}),l(ce,{...e,path:[`link`,n],table:t})]},r)})}):O(r)?l(v,{children:Object.entries(r).map(([t,n])=>O(n)?l(`fieldset`,{children:[l(`legend`,{children:[`Links of the `,t]}),l(ce,{...e,path:[`network`,t],table:n})]},t):null)}):null}function ce(e){let{path:t,table:n,edit:r}=e,i=n.trace===void 0?Object.keys(n).filter(e=>e===`rate`||e.endsWith(`_rate`)):[],a=te(n.buffer);return l(v,{children:[i.map(e=>l(x,{label:e.replace(`_`,` `),text:N(n[e]),value:w(n[e]),min:1e6,max:1e8,isLogarithmic:!0,write:D.rate,change:n=>r([...t,e],n)},e)),n.buffer!==void 0&&l(x,{label:`buffer`,text:N(n.buffer),value:a?.value??null,min:a?.min??1,max:a?.max??2,isLogarithmic:!0,write:a?.write??String,change:e=>r([...t,`buffer`],e)})]})}function le(e){let t=e.document.disciplines??e.disciplines;return e.disciplines.map((e,n)=>{let r=t[n]??e;if(!O(r))return{label:e,name:N(r),path:[`discipline`,ue(N(r))],typed:r};let i=Object.keys(r).find(e=>e!==`label`)??e;return{label:e,name:i,path:[`disciplines`,n,i],typed:r}})}var ue=e=>e.split(`+`).pop()??e;function de({about:e,parts:t,edit:n}){let r=t.filter(e=>e.kind===`discipline`),i=le(e),a=i.map(e=>e.label),o=r.map(e=>e.name),s=e.sides.slice(0,2),c=[...new Set([...a,...o])],u=e=>{let t=s[1-e];return c.map(e=>({name:e,text:e===t?`${e}, with settings of its own`:e}))},d=(e,t)=>{let r=[...s];t===``?r.splice(e,1):r[e]=t===s[1-e]?fe(i.find(e=>e.label===t)?.name??t,a):t,n([`disciplines`],r.map(e=>i.find(t=>t.label===e)?.typed??e))};return l(`fieldset`,{children:[l(`legend`,{children:`Disciplines`}),l(S,{label:`A`,value:s[0]??``,options:u(0),change:e=>d(0,e)}),l(S,{label:`B`,value:s[1]??``,options:[{name:``,text:`none`},...u(1)],change:e=>d(1,e)}),s.map(t=>{let a=i.find(({label:e})=>e===t),o=a&&r.find(({name:e})=>e===ue(a.name));return a&&o&&l(pe,{entry:a,part:o,about:e,edit:n},t)})]})}function fe(e,t){let n=e.replace(/[^A-Za-z0-9_-]/g,`-`),r=2;for(;t.includes(`${n}-${r}`);)r+=1;return{[e]:{},label:`${n}-${r}`}}function pe(e){let{entry:t,part:n,about:r,edit:i}=e,a=n.fields.filter(e=>!(t.name.includes(`+`)&&e.name===`scheduler`));if(a.length===0)return null;let o=M(r.document,t.path),s=O(o)?Object.entries(o).map(([e,t])=>`${e} = ${N(t)}`):[];return l(`details`,{children:[l(`summary`,{children:[`parameters of `,t.label,s.length>0&&l(`span`,{class:`faint`,children:[`: `,s.join(`, `)]})]}),l(`p`,{class:`faint small`,children:P(n.summary)}),a.map(e=>{let n=[...t.path,e.name];return l(`div`,{class:`parameter`,children:[l(`label`,{children:[l(`span`,{children:e.name}),l(`input`,{type:`text`,value:N(M(r.document,n)),placeholder:P(e.default),onChange:e=>void i(n,me(e.currentTarget.value))})]}),l(`p`,{class:`faint small`,children:e.range?`${P(e.text).replace(/\.$/,``)} (${P(e.range)}).`:P(e.text)})]},e.name)})]})}function P(e){return e.replace(/\[([^\]]*)\]\([^)]*\)/g,`$1`).replace(/\[(`[^`]*`)\]/g,`$1`).replace(/[`*]/g,``)}function me(e){let t=e.trim();if(t!==``)return t===`true`||t===`false`?t===`true`:Number.isFinite(Number(t))?Number(t):t}var F=e=>e.flow??[];function he({about:e,parts:t,edit:n,refuse:r}){let i=F(e.document),a=e=>n([`flow`],n=>{let r=F(n),i=r.map(e=>N(e.group)),a=e;for(let t=2;i.includes(a);t+=1)a=`${e}-${t}`;return[...r,ge(a,e,t)]});return l(`fieldset`,{children:[l(`legend`,{children:`Who sends`}),i.map(a=>l(ve,{group:a,about:e,parts:t,edit:n,refuse:r,isLast:i.length===1},N(a.group))),l(`div`,{class:`add`,children:[l(`span`,{class:`faint small`,children:`add`}),[[`bulk`,`TCP`],[`cbr`,`UDP`],[`web`,`web`],[`voip`,`call`]].map(([e,t])=>l(`button`,{type:`button`,onClick:()=>void a(e??``),children:[`+ `,t]},e))]})]})}function ge(e,t,n){let r=n.find(e=>e.kind===`source`&&e.name===t),i=r?.is_tcp?{tcp:{control:`cubic`,recovery:`sack`}}:{};return{group:e,source:r?.typed??t,...i,access:{rate:`100 Mbit/s`,delay:`5 ms`}}}function _e(e){return typeof e==`object`&&!Array.isArray(e)?Object.keys(e)[0]??``:N(e)}function ve({group:e,about:t,parts:n,edit:r,refuse:i,isLast:a}){let o=N(e.group),s=_e(e.source),c=n.find(e=>e.kind===`source`&&e.name===s),u=(...e)=>[`flow`,o,...e],d=M(e,[`source`,s,`rate`]),f=()=>r([`flow`],e=>F(e).filter(e=>e.group!==o)),p=n.filter(e=>e.kind===`source`&&e.name!==`replay`);return l(`div`,{class:`sender`,role:`group`,"aria-label":`senders ${o}`,children:[l(`div`,{class:`sender-head`,children:[l(`strong`,{children:o}),l(`button`,{type:`button`,class:`quiet`,disabled:a,"aria-label":`remove ${o}`,onClick:()=>void f(),children:`remove`})]}),l(S,{label:`sends`,value:s,options:p.map(e=>({name:e.name,text:e.is_tcp?`${e.name} (TCP)`:`${e.name} (UDP)`})),change:t=>{let{access:i,start:a,count:s}=e,c=ge(o,t,n);r(u(),{...c,access:i??c.access??{},...a?{start:a}:{},...s?{count:s}:{}})}}),c?.is_tcp&&l(ye,{group:e,path:u,parts:n,edit:r}),l(x,{label:`how many`,text:N(e.count??1),value:Number(e.count??1),min:1,max:50,write:D.count,change:e=>r(u(`count`),me(e))}),d!==void 0&&l(x,{label:`rate`,text:N(d),value:w(d),min:1e5,max:1e8,isLogarithmic:!0,write:D.rate,change:e=>r(u(`source`,s,`rate`),e)}),l(be,{group:e,about:t,path:u,edit:r,refuse:i})]})}function ye(e){let t=_e(M(e.group,[`tcp`,`control`]))||`reno`,n=e.parts.filter(e=>e.kind===`controller`);return l(S,{label:`TCP`,value:t,options:n.map(e=>({name:e.name,text:e.name})),change:t=>{let n=e.group.tcp??{};e.edit(e.path(`tcp`),{...n,control:t,...t===`reno`?{}:{recovery:`sack`}})}})}function be(e){let t=w(M(e.about.document,[`link`,`delay`])),n=w(M(e.group,[`access`,`delay`]));if(t===null||n===null){let t=N(M(e.group,[`access`,`delay`]));return l(x,{label:`own delay, one way`,text:t,value:null,min:0,max:1,write:D.time,change:t=>e.edit(e.path(`access`,`delay`),t)})}let r=2*t;return l(x,{label:`RTT without queue`,text:D.time(r+4*n),value:r+4*n,min:Math.max(.002,r),max:r+.4,isLogarithmic:!0,write:D.time,change:t=>{let n=w(t);if(n!==null&&n<r)return e.refuse(`The RTT without queue is \`${t}\`, but the link alone has ${D.time(r)}; allowed: at least that, or a shorter delay of the link.`);let i=n===null?null:(n-r)/4;return e.edit(e.path(`access`,`delay`),i===null?t:`${Number((i*1e3).toPrecision(4))} ms`)}})}async function xe(){let e=await(await fetch(`./server.json`)).json();return{hasPlayer:e.hasPlayer===!0,hasKernel:e.hasKernel===!0,scenario:typeof e.scenario==`string`?e.scenario:null}}async function Se(e,t){if(t(`page`)&&typeof WebAssembly==`object`&&typeof DecompressionStream==`function`)try{return await Ce()}catch(t){if(!e.hasPlayer)throw t}if(!e.hasPlayer)throw Error("this browser has no WebAssembly, and no process serves this page: run `fairwire play`");return we()}var I=new TextDecoder;async function Ce(){let e=new Worker(new URL(new URL(`worker.js`,import.meta.url).href,``+import.meta.url),{type:`module`}),t=new Map,n=0,r=e=>{for(let{reject:n}of t.values())n(Error(e));t.clear()};e.onmessage=({data:e})=>{let n=t.get(e.id);t.delete(e.id),e.isError?n?.reject(Error(I.decode(e.bytes))):n?.resolve(e.bytes)},e.onerror=e=>r(`the simulator stopped: ${e.message}`);let i=(r,i)=>new Promise((a,o)=>{n+=1,t.set(n,{resolve:a,reject:o}),e.postMessage({id:n,name:r,input:i===void 0?``:JSON.stringify(i)})});return await i(`catalogue`),{place:`in this page (WebAssembly)`,call:i}}function we(){let e=crypto.getRandomValues(new Uint32Array(2)).join(`-`);return{place:`in the process that serves this page`,call:async(t,n)=>{let r=n===void 0?``:JSON.stringify(n),i=await fetch(`./player/${e}/${t}`,{method:`POST`,body:r}),a=new Uint8Array(await i.arrayBuffer());if(!i.ok)throw Error(I.decode(a));return a}}}async function L(e,t,n){return JSON.parse(I.decode(await e.call(t,n)))}var Te=[{name:`lab`,text:`kernel`,dash:[]},{name:`sim`,text:`simulated`,dash:[4,3]}];async function Ee(e){let t=await fetch(`./kernel`,{method:`POST`,body:e}),n=await t.text();if(!t.ok)throw Error(n);return n}function De(e,t){let n=Oe(e),r=[...new Set(t.flows.map(e=>e.group))];return[...n].map(([e,t])=>{let n=r.flatMap((e,t)=>Te.map(n=>({group:e,colour:t,stage:n})));return{title:`On this machine's kernel, under ${e}`,axis:`rate of each group: kernel, and simulated (dashed)`,series:n.map(({group:e,colour:t,stage:n})=>({name:`${e}, ${n.text}`,colour:t,dash:n.dash})),data:()=>{let e=Float64Array.from(t.times).sort();return[e,...n.map(({group:n,stage:r})=>{let i=t.rates.get(`${r.name} ${n}`);return e.map(e=>i?.get(e)??NaN)})]},format:u}})}function Oe(e){let t=new Map;for(let n of e.split(`
`).slice(1)){let[e=``,r=``,,i=``,a,o=``,s,,c=``]=n.split(`,`);if(a!==`group`||s!==`egress`)continue;let l=t.get(e)??{times:new Set,rates:new Map};t.set(e,l),l.times.add(Number(i));let u=`${r} ${o}`,d=l.rates.get(u)??new Map;l.rates.set(u,d),d.set(Number(i),Number(c))}return t}var ke=e=>e.replace(/[&<>"]/g,e=>({"&":`&amp;`,"<":`&lt;`,">":`&gt;`,'"':`&quot;`})[e]??e),Ae=880,R=92,z=50,B=156,je=24,V=18,Me=18,Ne=20,Pe=6.6,Fe=40;function Ie(e,t){let r=n(),i=44,a=t.map(e=>{let t=e.kind===`lines`?Le(e.shown,r):e.kind===`bars`?Ve(e,r):He(e,r),n=t.draw(i);return i+=t.height+Me,n});return`<svg xmlns="http://www.w3.org/2000/svg" width="${Ae}" height="${i}" viewBox="0 0 ${Ae} ${i}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${r.card}"/>
${H(16,28,e,r.text,`font-size="17" font-weight="600"`)}
${a.join(`
`)}
</svg>
`}function H(e,t,n,r,i=``){return`<text x="${e.toFixed(1)}" y="${t.toFixed(1)}" fill="${r}" ${i}>${ke(n)}</text>`}function U(e,t,n,r){return`${H(16,n+18,e,r.text,`font-weight="600"`)}
${H(16,n+35,t,r.faint)}`}function W(e,t,n){let r=t-e;if(!(r>0))return[e];let i=r/n,a=10**Math.floor(Math.log10(i)),o=[1,2,5,10].map(e=>e*a).find(e=>e>=i*(1-1e-9))??10*a,s=Math.ceil(e/o-1e-9),c=Math.floor(t/o+1e-9)-s+1;return Array.from({length:c},(e,t)=>(s+t)*o)}function Le(e,t){let n=ze(e.series,t);return{height:230+n.height,draw:r=>{let[i=new Float64Array,...a]=e.data(),o=i[0]??0,s=i[i.length-1]??1,c=0;for(let e of a)for(let t of e)t>c&&(c=t);let l=c*1.06||1,u=r+z+B,d=e=>R+772*(e-o)/(s-o||1),f=e=>u-e/l*B,p=W(0,l,4).map(n=>`<line x1="${R}" x2="864" y1="${f(n).toFixed(1)}" y2="${f(n).toFixed(1)}" stroke="${t.grid}"/>
${H(84,f(n)+4,g(e.format(n)),t.faint,`text-anchor="end"`)}`),m=W(o,s,8).map(e=>`<line x1="${d(e).toFixed(1)}" x2="${d(e).toFixed(1)}" y1="${u-B}" y2="${u+4}" stroke="${t.grid}"/>
${H(d(e),u+17,`${Number(e.toFixed(6))} s`,t.faint,`class="time" text-anchor="middle"`)}`),h=a.map((n,r)=>{let a=e.series[r],[o,s]=Re(a,r,t);return`<path d="${Be(i,n,d,f)}" fill="none" stroke="${o}" stroke-width="1.5" stroke-dasharray="${s}"/>`});return`${U(e.title,`${e.axis}; ${o.toFixed(1)} s to ${s.toFixed(1)} s`,r,t)}
${p.join(`
`)}
${m.join(`
`)}
${h.join(`
`)}
${n.draw(u+je)}`}}}function Re(e,t,n){let r=e?.colour??t;return[n.series[r%9]??n.text,(e?.dash??f(r)).join(` `)]}function ze(e,t){let n=[...new Set(e.map(e=>e.group??e.name))],[r,i]=[R,0],a=n.slice(0,Fe).map(n=>{let a=e.findIndex(e=>(e.group??e.name)===n),o=44+n.length*Pe;r+o>864&&r>R&&([r,i]=[R,i+1]);let s={x:r,row:i,name:n,line:Re(e[a],a,t)};return r+=o,s}),o=n.length-a.length;return{height:(i+1)*V+(o>0?V:0),draw:e=>{let n=a.map(({x:n,row:r,name:i,line:[a,o]})=>{let s=e+r*V+12;return`<line class="key" x1="${n.toFixed(1)}" x2="${(n+26).toFixed(1)}" y1="${s-4}" y2="${s-4}" stroke="${a}" stroke-width="2.5" stroke-dasharray="${o}"/>${H(n+31,s,i,t.text)}`});return o>0&&n.push(H(R,e+(i+1)*V+12,`and ${o} more`,t.faint)),n.join(`
`)}}}function Be(e,t,n,r){let i=``,a=!1;for(let o=0;o<t.length;o+=1){let s=t[o]??NaN;Number.isNaN(s)?a=!1:(i+=`${a?`L`:`M`}${n(e[o]??0).toFixed(1)} ${r(s).toFixed(1)}`,a=!0)}return i}function Ve(e,t){let{levels:n,share:r,top:i,format:a}=e;return{height:230,draw:o=>{let s=o+z+B,c=e=>s-Math.min(e,i)/i*B,l=658/Math.max(1,n.length),u=Math.max(1,Math.min(60,l*.8)),d=W(0,i,4).map(e=>`<line x1="${R}" x2="750" y1="${c(e).toFixed(1)}" y2="${c(e).toFixed(1)}" stroke="${t.grid}"/>
${H(84,c(e)+4,g(a(e)),t.faint,`text-anchor="end"`)}`),f=n.map((e,n)=>{let r=R+l*(n+.5)-u/2,a=(e,t,n)=>`<rect class="${e}" x="${r.toFixed(1)}" y="${c(t).toFixed(1)}" width="${u.toFixed(1)}" height="${(s-c(t)).toFixed(1)}" ${n}/>`,o=t.series[(e.colour??n)%9]??t.text,d=Math.floor(l/Pe),f=e.name.length>d?`${e.name.slice(0,Math.max(0,d-1))}…`:e.name;return`${a(`demand`,Number.isFinite(e.demand)?e.demand:i,`fill="none" stroke="${t.edge}"`)}
${a(`delivered`,e.delivered,`fill="${o}"`)}
${l>=34?H(r+u/2,s+17,f,t.faint,`text-anchor="middle"`):``}`}),p=r===void 0?``:`<line class="share" x1="${R}" x2="756" y1="${c(r).toFixed(1)}" y2="${c(r).toFixed(1)}" stroke="${t.share}" stroke-width="2"/>
${H(760,c(r)-3,`fair share`,t.share)}
${H(760,c(r)+12,a(r),t.share)}`;return`${U(e.title,e.about,o,t)}
${d.join(`
`)}
${f.join(`
`)}
${p}`}}}function He(e,t){let{columns:n,rows:r,format:i}=e;return{height:z+(r.length+1)*Ne,draw:a=>{let o=Math.min(160,664/Math.max(1,n.length)),s=Math.max(0,...r.flatMap(e=>e.values)),c=e=>200+o*(e+1),l=n.map((e,n)=>H(c(n)-8,a+z+14,e,t.text,`text-anchor="end" font-weight="600"`)),u=r.flatMap((e,r)=>{let l=a+z+(r+1)*Ne;return[H(16,l+14,e.name,t.text),...n.map((n,r)=>{let a=e.values[r]??0,u=s>0?Math.sqrt(a/s)*.45:0;return`<rect x="${(c(r)-o+2).toFixed(1)}" y="${l}" width="${(o-4).toFixed(1)}" height="18" fill="${t.series[0]}" fill-opacity="${u.toFixed(3)}"/>
${H(c(r)-8,l+14,a===0?`·`:i(a),t.text,`class="cell" text-anchor="end"`)}`})]});return`${U(e.title,e.about,a,t)}
${l.join(`
`)}
${u.join(`
`)}`}}}var G={at:0,packets:1,bytes:2,link:3,mean:4,p50:5,p99:6},Ue=7,K={rate:0,offered:1,dropped:2,window:3},We=4,Ge=8e6,Ke=class{flows;causes;width;rows=0;levels=[];dropped;droppedOf;numbers;constructor(e,t){this.flows=e,this.causes=t,this.width=Ue+t+We*e,this.numbers=new Float64Array(this.width*1024),this.dropped=new Float64Array(t),this.droppedOf=new Float64Array(e)}add(e){let t=e.length/this.width;this.makeRoom(t),this.numbers.set(e,this.rows*this.width);for(let n=0;n<t;n+=1){let t=n*this.width;for(let n=0;n<this.causes;n+=1)this.dropped[n]=(this.dropped[n]??0)+(e[t+Ue+n]??0);for(let n=0;n<this.flows;n+=1)this.droppedOf[n]=(this.droppedOf[n]??0)+(e[t+this.column(n,K.dropped)]??0)}this.rows+=t}at(e,t){return this.numbers[e*this.width+t]??NaN}column(e,t){return Ue+this.causes+We*e+t}makeRoom(e){if((this.rows+e)*this.width>Ge&&this.rows>1){let e=Math.floor(this.rows/2);this.numbers.copyWithin(0,(this.rows-e)*this.width,this.rows*this.width),this.rows=e}let t=(this.rows+e)*this.width;if(t<=this.numbers.length)return;let n=new Float64Array(Math.max(t,2*this.numbers.length));n.set(this.numbers.subarray(0,this.rows*this.width)),this.numbers=n}from(e){return this.at(this.rows-1,G.at),Math.max(0,this.rows-Math.round(e/.01),0)}means(e,t,n,r){let i=Math.ceil(t/n)*n,a=Math.max(0,Math.ceil((this.rows-i)/n)),o=new Float64Array(a);for(let e=0;e<a;e+=1)o[e]=this.at(i+e*n,G.at);return[o,...e.map(e=>this.smoothed(e,i,a,n,r))]}smoothed(e,t,n,r,i){let{numbers:a,width:o}=this,s=new Float64Array(n),c=Math.max(i,r),l=0,u=0,d=Math.max(0,t-c+1),f=d;for(let i=0;i<n;i+=1){let n=t+i*r;for(;f<=n;f+=1){let t=a[f*o+e]??NaN;t===t&&(l+=t,u+=1)}for(;d<=n-c;d+=1){let t=a[d*o+e]??NaN;t===t&&(l-=t,--u)}s[i]=u>0?Math.max(0,l/u):NaN}return s}};function qe(e,t){let n=new Float64Array(e.buffer,e.byteOffset,e.byteLength/8),r=3;for(let e of t){let t=n[r]??0,i=n[r+2]??0;r+=3,e.levels=Array.from({length:t},(e,t)=>({demand:n[r+3*t]??0,delivered:n[r+3*t+1]??0,share:n[r+3*t+2]??0})),r+=3*t,e.add(n.subarray(r,r+i*e.width)),r+=i*e.width}return{now:n[0]??0,isOver:n[1]===1}}function q(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(t),n.download=e,n.click(),setTimeout(()=>URL.revokeObjectURL(n.href),1e4)}async function Je(e){let t=URL.createObjectURL(new Blob([e],{type:`image/svg+xml`}));try{let e=new Image;e.src=t,await e.decode();let n=document.createElement(`canvas`);return n.width=2*e.width,n.height=2*e.height,n.getContext(`2d`)?.drawImage(e,0,0,n.width,n.height),await new Promise((e,t)=>n.toBlob(n=>n?e(n):t(Error(`the browser makes no PNG of it`))))}finally{URL.revokeObjectURL(t)}}var Ye=e=>/[",]/.test(e)?`"${e.replaceAll(`"`,`""`)}"`:e;function Xe(e,{sides:t,eras:n}){let r=e.flows.flatMap(e=>[`${e.name}.rate_bps`,`${e.name}.window_segments`]),i=[[`time_s`,`discipline`,`queue_packets`,`queue_bytes`,`wait_mean_s`,`wait_p50_s`,`wait_p99_s`,...e.causes.map(e=>`drops.${e}`),...r].join(`,`)],a=e=>Number.isNaN(e)?``:String(Number(e.toPrecision(12)));return t.forEach((t,r)=>{let o=n.map(e=>({since:e.since,name:Ye(e.sides[r]??``)})),s=0;for(let n=0;n<t.rows;n+=1){for(;s+1<o.length&&t.at(n,G.at)>(o[s+1]?.since??0)+1e-9;)s+=1;let r=o[s]?.name??``,c=[G.packets,G.bytes,G.mean,G.p50,G.p99].map(e=>a(t.at(n,e))),l=e.causes.map((e,r)=>a(t.at(n,G.p99+1+r))),u=e.flows.flatMap((e,r)=>[a(t.at(n,t.column(r,K.rate))),a(t.at(n,t.column(r,K.window)))]);i.push([a(t.at(n,G.at)),r,...c,...l,...u].join(`,`))}}),`${i.join(`
`)}\n`}var Ze=[.05,.25,1,4,16],Qe=.5,$e=class{door;changed;failed;about=null;sides=[];now=0;isOver=!1;isPlaying=!1;isBusy=!1;isRushing=!1;speed=1;result=null;frames=0;eras=[];runs=0;last=0;constructor(e,t,n){this.door=e,this.changed=t,this.failed=n}async start(e){let t=++this.runs;this.isBusy=!0;try{let n=await L(this.door,`start`,{scenario:e});if(t!==this.runs)return;this.about=n,this.sides=n.sides.map(()=>new Ke(n.flows.length,n.causes.length)),this.now=0,this.eras=[{since:0,sides:n.sides}],this.isOver=!1,this.isRushing=!1,this.result=null,this.last=0}finally{t===this.runs&&(this.isBusy=!1),this.changed()}await this.advance(et(this.about))}async set(e){for(;this.isBusy;)await new Promise(e=>setTimeout(e,1));this.isBusy=!0;try{return this.about=await L(this.door,`set`,{set:e}),this.eras.push({since:this.now,sides:this.about.sides}),!0}catch(e){if(String(e).includes(`all else needs a new run`))return!1;throw e}finally{this.isBusy=!1,this.changed()}}setPlaying(e){this.isPlaying=e&&!this.isOver,this.isRushing=!1,this.last=0,this.changed()}rush(){this.isPlaying=!this.isOver,this.isRushing=!0,this.changed()}async step(){this.setPlaying(!1),await this.advance(this.now+et(this.about))}tick(e){if(!this.isPlaying||this.isBusy||!this.about)return;let t=this.last===0?1/60:Math.min(.1,(e-this.last)/1e3),n=this.isRushing?Qe:Math.min(Qe,t*this.speed),r=Math.min(this.target(e)+n,this.about.duration_s);this.last=e,this.wanted=r,(r-this.now>=this.about.sample_s||r>=this.about.duration_s)&&this.advance(r)}wanted=0;target(e){let t=this.about?.sample_s??.01;return this.wanted>this.now&&this.wanted<this.now+2*t?this.wanted:this.now}async advance(e){if(this.isBusy||!this.about)return;let t=this.runs;this.isBusy=!0;try{let n=await this.door.call(`advance`,{to_s:e+1e-6});if(t!==this.runs)return;let r=qe(n,this.sides);this.now=r.now,this.frames+=1,r.isOver&&!this.isOver&&await this.end()}catch(e){this.isPlaying=!1,this.failed(String(e instanceof Error?e.message:e))}finally{t===this.runs&&(this.isBusy=!1)}}async end(){this.result=await L(this.door,`result`),this.isOver=!0,this.isPlaying=!1,this.isRushing=!1,this.changed()}};function et(e){return e?.sample_s??.01}var tt=Object.assign({"../../../exercises/01-buffer.toml":`# The buffer that one flow needs is what the link holds in a round trip.

format = 2
name = "exercise-buffer"
title = "How large a buffer?"
duration = "60 s"
warm_up = "20 s"
seeds = "1..=2"
disciplines = ["tail-drop"]

[lesson]
question = "One Reno download has a round trip of 60 ms over a link of 10 Mbit/s. Which buffer keeps the link busy at 97 % and no packet waiting for more than 90 ms?"
look = "Where the window is halved, what is left must still fill the link. A queue that is never empty waits for nothing."
measure = "sojourn_p99_s"
reads = "The wait that 99 of 100 packets did not exceed, in seconds."
answer = "What the link carries in a round trip: 10 Mbit/s times 60 ms are 75 kB, 50 packets. After a loss the window is half of twice that, so the link stays busy."

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "300 packets"

[[flow]]
group = "tcp"
source = "bulk"
tcp = { control = "reno", recovery = "sack", segment = "1460 B" }
access = { rate = "100 Mbit/s", delay = "10 ms" }

[[expect]]
measure = "utilization"
min = 0.97
because = "the link is to stay busy"

[[expect]]
measure = "sojourn_p99_s"
max = 0.09
because = "a call that shares the queue is to stay a call"
`,"../../../exercises/02-two-distances.toml":`# TCP's rate falls with its round trip, unless the queue shares the link.

format = 2
name = "exercise-two-distances"
title = "Near and far"
duration = "40 s"
warm_up = "10 s"
seeds = "1..=2"
disciplines = ["tail-drop"]

[lesson]
question = "Two downloads from near and two from far share a link, and the near ones get most of it. Which discipline gives each the same, whatever its distance?"
look = "A discipline that serves all flows in turn does not ask how soon a sender comes back."
measure = "jain"
reads = "Jain's index of fairness over the flows: 1 is fair."
answer = "Any that has a queue for each flow, such as deficit round robin. The near flows lose what they send too much, and the far ones have the time that they need."

[link]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "150 packets"

[[flow]]
group = "near"
count = 2
source = "bulk"
tcp = { control = "reno", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "1 ms" }
start = "0 s..1 s"

[[flow]]
group = "far"
count = 2
source = "bulk"
tcp = { control = "reno", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "30 ms" }
start = "0 s..1 s"

[[expect]]
measure = "jain"
min = 0.98
because = "four flows that want all there is have a quarter each"
`,"../../../exercises/03-a-flood.toml":`# Who does not slow down wins, where packets are dropped without regard to flows.

format = 2
name = "exercise-a-flood"
title = "A flood that RED does not stop"
duration = "40 s"
warm_up = "10 s"
seeds = "1..=2"
disciplines = ["red"]

[lesson]
question = "Nine TCP flows share 10 Mbit/s with a flood of 5 Mbit/s. Find a discipline without a queue for each flow that leaves TCP nine tenths of its due."
look = "Try those that drop by what a flow sends: \`fairwire list disciplines\` has them under the droppers."
measure = "share.tcp"
reads = "What TCP gets, divided by its fair share: 1 is fair."
answer = "FABA keeps tokens for each flow that has packets inside, and drops from flows without tokens. One queue is enough."
figure = "faba.table1"

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "390 packets"

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
measure = "share.tcp"
min = 0.9
because = "its due is 9 of 10 Mbit/s"
`,"../../../exercises/04-a-polite-flood.toml":`# A sender without congestion control is harmless as long as it sends no more than its share.

format = 2
name = "exercise-a-polite-flood"
title = "How much may UDP send?"
duration = "40 s"
warm_up = "10 s"
seeds = "1..=2"
disciplines = ["red"]

[lesson]
question = "Nine TCP flows share 10 Mbit/s with one UDP flow under RED. At which rate does UDP get as much as each TCP flow, within a tenth?"
look = "The fair share is the link over the number of flows that want it. RED takes from UDP what it takes from all."
measure = "fraction.udp"
reads = "The part of the link that UDP gets: a tenth is fair among ten flows."
answer = "At about 1 Mbit/s, a tenth of the link. What UDP sends beyond that, TCP gives up."

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "390 packets"

[[flow]]
group = "tcp"
count = 9
source = "bulk"
tcp = { profile = "ns2-2002", segment = "512 B" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"

[[flow]]
group = "udp"
source = { cbr = { rate = "3 Mbit/s", packet = "512 B" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"

[[expect]]
measure = "fraction.udp"
min = 0.09
max = 0.11
because = "the fair share is 1 Mbit/s"
`,"../../../exercises/05-without-loss.toml":`# A mark says what a drop says, and the packet arrives.

format = 2
name = "exercise-without-loss"
title = "Signals without loss"
duration = "40 s"
warm_up = "10 s"
seeds = "1..=2"
disciplines = ["codel"]

[lesson]
question = "CoDel signals by dropping. Change both ends of the signal, so that not one packet in a thousand is lost and the queue is as short as before."
look = "A sender says that it understands marks (\`tcp.ecn\`), and the queue has to mark (\`discipline.codel.ecn\`). One alone changes nothing."
measure = "drop_fraction"
reads = "The part of the packets that was dropped."
answer = "With \`ecn = \\"mark\\"\` in CoDel and \`ecn = \\"ect0\\"\` at the senders, the queue marks where it would drop, and TCP halves its window as for a loss."

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1000 packets"

[[flow]]
group = "tcp"
count = 4
source = "bulk"
tcp = { control = "reno", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[expect]]
measure = "drop_fraction"
max = 0.001
because = "marks take the place of drops"

[[expect]]
measure = "sojourn_mean_s"
max = 0.02
because = "the queue is as short as before"
`,"../../../exercises/06-a-slow-link.toml":`# On a slow link a short wait is too few packets to keep it busy.

format = 2
name = "exercise-a-slow-link"
title = "PIE on a slow link"
duration = "60 s"
warm_up = "10 s"
seeds = "1..=2"
disciplines = ["pie"]

[lesson]
question = "PIE holds the wait near its target of 15 ms. On this link of 2 Mbit/s that leaves a part of it idle. Which target keeps it busy at 95 %, with a mean wait below 60 ms?"
look = "A full packet takes 6 ms here. How many must wait, so that the link does not run dry after a drop?"
measure = "utilization"
reads = "The part of the time in which the link sends."
answer = "About 40 ms. A short target is a short queue, and a link that runs dry when the only sender halves its window."

[link]
rate = "2 Mbit/s"
delay = "30 ms"
buffer = "200 packets"

[[flow]]
group = "tcp"
source = "bulk"
tcp = { control = "reno", recovery = "sack", segment = "1460 B" }
access = { rate = "100 Mbit/s", delay = "10 ms" }

[[expect]]
measure = "utilization"
min = 0.95
because = "the link is to stay busy"

[[expect]]
measure = "sojourn_mean_s"
max = 0.06
because = "a target of 40 ms, and what PIE misses it by"
`,"../../../exercises/07-cubic-and-bbr.toml":`# How two ways to find a link's rate share it depends on the buffer.

format = 2
name = "exercise-cubic-and-bbr"
title = "A buffer for CUBIC and BBR"
duration = "60 s"
warm_up = "20 s"
seeds = "1..=4"
disciplines = ["tail-drop"]

[lesson]
question = "CUBIC and BBR share a link under tail-drop, and BBR has most of it. With which buffer does CUBIC get between 0.8 and 1.2 of its share?"
look = "BBR keeps a round trip or two in flight, whatever the buffer holds. CUBIC fills the buffer."
measure = "share.cubic"
reads = "What CUBIC gets, divided by its fair share: 1 is fair."
answer = "Near 200 packets. BBR wins where the buffer is small, because it takes loss for nothing; CUBIC wins where it is large, because it fills it. In between they meet."

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
measure = "share.cubic"
min = 0.8
max = 1.2
because = "half of the link is fair"
`,"../../../exercises/08-who-is-a-flow.toml":`# Fair between connections is not fair between people.

format = 2
name = "exercise-who-is-a-flow"
title = "Nine connections against one"
duration = "40 s"
warm_up = "10 s"
seeds = "1..=2"
disciplines = ["fq-codel"]

[lesson]
question = "One host opens nine connections and gets nine tenths of the link. Find a discipline that gives each host a half."
look = "Which of them know hosts? \`fairwire describe\` says of each what a flow is."
measure = "fraction.single"
reads = "The part of the link that the single connection gets: a half is fair between the two hosts."
answer = "One that shares between hosts first and between their flows then, such as \`cake-like\`. Nine connections buy nothing."

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
measure = "fraction.single"
min = 0.4
max = 0.6
because = "hosts share equally"
`,"../../../exercises/09-parking-lot.toml":`# What is fair on a network of several full links: max-min.

format = 2
name = "exercise-parking-lot"
title = "The rate of the middle link"
duration = "60 s"
warm_up = "20 s"
seeds = "1..=2"
disciplines = ["drr"]
nodes = ["a", "b", "c", "d"]

[lesson]
question = "One flow crosses three links and meets another at each. Under fair queueing it gets 3 Mbit/s. At which rate of the middle link do all four flows get about the same?"
look = "A flow gets no more than its share of the narrowest of its links; what it leaves elsewhere goes to the others."
measure = "jain_throughput"
reads = "Jain's index of fairness over the rates of the four flows: 1 is equal."
answer = "10 Mbit/s, as the others: then each link is shared by two, and everybody has 5 Mbit/s. At 6 the long flow leaves 7 Mbit/s of each outer link to its neighbour."

[[link]]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "100 packets"

[[link]]
name = "middle"
from = "b"
to = "c"
rate = "6 Mbit/s"
delay = "5 ms"
buffer = "100 packets"

[[link]]
from = "c"
to = "d"
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "100 packets"

[[flow]]
group = "long"
source = "bulk"
tcp = { control = "reno", recovery = "sack" }
from = "a"
to = "d"
access = { rate = "100 Mbit/s", delay = "1 ms" }
start = "0 s..1 s"

[[flow]]
group = "one"
source = "bulk"
tcp = { control = "reno", recovery = "sack" }
from = "a"
to = "b"
access = { rate = "100 Mbit/s", delay = "1 ms" }
start = "0 s..1 s"

[[flow]]
group = "two"
source = "bulk"
tcp = { control = "reno", recovery = "sack" }
from = "b"
to = "c"
access = { rate = "100 Mbit/s", delay = "1 ms" }
start = "0 s..1 s"

[[flow]]
group = "three"
source = "bulk"
tcp = { control = "reno", recovery = "sack" }
from = "c"
to = "d"
access = { rate = "100 Mbit/s", delay = "1 ms" }
start = "0 s..1 s"

[[expect]]
measure = "jain_throughput"
min = 0.98
because = "four equal rates have an index of 1"

[[expect]]
measure = "throughput_bps.long"
min = 4.5e6
because = "half of 10 Mbit/s"
`,"../../../exercises/10-warm-up.toml":`# What is measured too early is measured of the start.

format = 2
name = "exercise-warm-up"
title = "When does measuring begin?"
duration = "60 s"
warm_up = "0 s"
seeds = "1..=2"
disciplines = ["drr"]

[lesson]
question = "Under deficit round robin two flows share a link, and Jain's index over the run says that they do not. One of them begins after 20 s. When must measuring begin?"
look = "Look at the rates over time: are they the same from some time on?"
measure = "jain"
reads = "Jain's index of fairness over what is measured: 1 is fair."
answer = "After the start of the second flow and the time in which it finds its rate: from 25 s on. What is before that says how long one flow was alone, and nothing of the discipline."

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "100 packets"

[[flow]]
group = "first"
source = "bulk"
tcp = { control = "reno", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "5 ms" }

[[flow]]
group = "second"
source = "bulk"
tcp = { control = "reno", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "20 s"

[[expect]]
measure = "jain"
min = 0.99
because = "both want all there is, so each has a half"
`,"../../../lessons/01-distance.toml":`# A full buffer refuses everybody alike, and TCP takes longer to come back over a longer way.

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
look = "Under \\"Who gets what\\" the flood stands far above the line, with RED too. Change its rate, or choose FABA as B."
measure = "share.udp"
reads = "What the UDP flow gets, divided by its fair share of 1 Mbit/s: 1 is fair."
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
reads = "What the UDP flow gets, divided by its fair share of 1 Mbit/s: 1 is fair."
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
look = "The demands of the fifty flows differ by twelve. Under \\"Who gets what\\" each fill should end at the line, or at its outline below it."
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
look = "Under \\"Who gets what\\": CoDel signals, and a flood does not hear it. FQ-CoDel serves each queue in turn."
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
reads = "What CUBIC gets, divided by its fair share: 1 is fair."
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
`}),J=e=>e.includes(`/exercises/`),Y=Object.entries(tt).sort(([e],[t])=>Number(J(e))-Number(J(t))||(e<t?-1:1)).map(([e,t])=>({name:`${J(e)?`exercise-`:``}${e.replace(/^.*\/(?:\d+-)?/,``).replace(/\.toml$/,``)}`,title:/^title = "(.*)"$/m.exec(t)?.[1]??e,scenario:t,isExercise:J(e)}));function nt({game:e,about:t,lesson:n,isExercise:r,restore:i}){return l(`section`,{class:`card lesson`,"aria-label":`lesson`,children:[l(`h2`,{children:t.title}),l(`p`,{class:`question`,children:n.question}),n.look&&l(`p`,{class:`faint`,children:n.look}),i&&l(`p`,{children:[l(`span`,{class:`faint`,children:`You have changed the contest: its numbers are others. `}),l(`button`,{type:`button`,onClick:()=>i(),children:`Begin as written`})]}),e.result?l(rt,{result:e.result,lesson:n,isExercise:r,isAsWritten:i===null}):l(`p`,{children:l(`button`,{type:`button`,class:`primary`,onClick:()=>e.rush(),disabled:e.isRushing,children:e.isRushing?`${p(e.now/t.duration_s,2)} done`:r?`Run to the end`:`Run to the end and answer`})})]})}function rt(e){let{result:t,lesson:n,isExercise:r,isAsWritten:i}=e;return l(`div`,{class:`answer`,role:`status`,children:[l(`dl`,{children:t.map(e=>{let t=e.measures[n.measure];return l(`div`,{children:[l(`dt`,{children:e.discipline}),l(`dd`,{class:`number`,"data-discipline":e.discipline,"data-measure":n.measure,"data-value":t,children:t===void 0?`–`:o(t)})]},e.discipline)})}),l(`p`,{class:`faint small`,children:n.reads}),r?l(`details`,{children:[l(`summary`,{children:`show an answer`}),l(`p`,{children:n.answer})]}):i&&l(`p`,{children:n.answer}),n.figure&&l(`p`,{class:`faint small`,children:[`The same as a figure: `,l(`code`,{children:[`fairwire reproduce `,n.figure]})]})]})}var it=32768,at=262144,ot=async(e,t)=>new Response(new Response(e).body?.pipeThrough(t));async function st(e){if(`lesson`in e)return`#lesson=${encodeURIComponent(e.lesson)}`;let t=new Uint8Array(await(await ot(new TextEncoder().encode(e.scenario),new CompressionStream(`deflate-raw`))).arrayBuffer());return`#scenario=${btoa(String.fromCharCode(...t)).replaceAll(`+`,`-`).replaceAll(`/`,`_`).replaceAll(`=`,``)}`}async function ct(e){let t=e.replace(/^#/,``);if(t===``)return null;let[n,r=``]=t.split(`=`,2);if(n===`lesson`)return{lesson:decodeURIComponent(r)};if(n!==`scenario`)throw Error("it begins with neither `lesson=` nor `scenario=`");if(r.length>it)throw Error(`it is too long`);try{let e=atob(r.replaceAll(`-`,`+`).replaceAll(`_`,`/`)),t=(await ot(Uint8Array.from(e,e=>e.charCodeAt(0)),new DecompressionStream(`deflate-raw`))).body;return{scenario:await ut(t)}}catch(e){throw e instanceof lt?e:Error(`it is damaged or cut short`)}}var lt=class extends Error{};async function ut(e){let t=e?.getReader(),n=new TextDecoder(`utf-8`,{fatal:!0}),r=``;for(;;){let e=await t?.read();if(!e||e.done)return r+n.decode();if(r+=n.decode(e.value,{stream:!0}),r.length>at)throw await t?.cancel(),new lt(`it unpacks to too much`)}}var dt=400,ft=160,pt=9;function mt(e){let t=[...new Set(e.flows.map(e=>e.group))],n=e.flows.length>pt;return e.flows.map((e,r)=>{let i=n?t.indexOf(e.group):r;return n?{name:e.name,group:e.group,colour:i,width:1}:{name:e.name,colour:i}})}function ht(e,t){let n=e.from(t.span),r=e.flows>pt?ft:dt;return{first:n,stride:Math.max(1,Math.ceil((e.rows-n)/r),Math.ceil(t.span*100/r))}}function gt(e,t,n){return{title:`Rate of each flow`,axis:`rate, mean of ${n.smooth*10} ms`,series:mt(e),data:()=>{let{first:r,stride:i}=ht(t,n),a=e.flows.map((e,n)=>t.column(n,K.rate));return t.means(a,r,i,n.smooth)},format:u}}function _t(e,t,n){let r=e.flows.map((e,t)=>({flow:e,index:t})).filter(({flow:e})=>e.is_tcp),i=mt(e);return{title:`Congestion window`,axis:`segments`,series:r.flatMap(({index:e})=>i[e]??[]),data:()=>{let{first:e,stride:i}=ht(t,n),a=r.map(({index:e})=>t.column(e,K.window));return t.means(a,e,i,1)},format:e=>o(e)}}function vt(e,t,n,r){return{series:e.sides.flatMap((e,t)=>r.map(({suffix:n,dash:r})=>({name:`${e}${n}`,colour:t,dash:r}))),data:()=>{let e=t[0];if(!e)return[new Float64Array];let{first:i,stride:a}=ht(e,n),o=t.map(e=>e.means(r.map(({field:e})=>e),i,a,a));return[o[0]?.[0]??new Float64Array,...o.flatMap(([,...e])=>e)]}}}function yt(e,t,n){return{title:`Queue`,axis:`packets that wait`,...vt(e,t,n,[{field:G.packets,suffix:``,dash:[]}]),format:e=>o(e)}}function bt(e,t,n){return{title:`Delay in the queue`,axis:`per interval: median, and 99th percentile (dashed)`,...vt(e,t,n,[{field:G.p50,suffix:` p50`,dash:[]},{field:G.p99,suffix:` p99`,dash:[4,3]}]),format:s}}function xt({game:e,about:t,view:n,version:i,slow:a,kernel:o}){let{sides:s}=e,u={version:i,span:[Math.max(0,e.now-n.span),Math.max(n.span,e.now)],cursor:`play`},f=s.length>1,p=r(()=>Math.max(...s.map(e=>Ct(e,t,n))),[a]),m=r(()=>Math.max(...s.map(e=>wt(e,t,n))),[a]),h=r(()=>Math.max(...s.map(e=>d(Q(t,e),Z(e)))),[a]),g=t.flows.some(e=>e.is_tcp);return l(`div`,{class:f?`pictures two`:`pictures`,children:[s.map((e,n)=>l(Ot,{about:t,side:e,index:n,slow:a,top:h},`water ${n}`)),s.map((e,r)=>l(X,{title:`Rate of each flow`,side:t.sides[r],children:l(c,{...gt(t,e,n),...u,range:[0,p*1.06||1],height:210})},`rates ${r}`)),g&&s.map((e,r)=>l(X,{title:`Congestion window`,side:t.sides[r],children:l(c,{..._t(t,e,n),...u,range:[0,m*1.06||1],height:170})},`windows ${r}`)),l(X,{title:`Queue`,children:l(c,{...yt(t,s,n),...u,height:170})}),l(X,{title:`Delay in the queue`,children:l(c,{...bt(t,s,n),...u,height:170})}),l(St,{about:t,kernel:o}),l(jt,{about:t,sides:s,slow:a})]})}function St({about:e,kernel:t}){return r(()=>t===null?null:l(v,{children:De(t,e).map(e=>l(X,{title:e.title,children:l(c,{...e,version:0,height:210})},e.title))}),[t,e])}function X(e){return l(`section`,{class:`card`,children:[l(`header`,{children:l(`h2`,{children:[e.title,e.side&&l(`span`,{class:`side`,children:[` under `,e.side]})]})}),e.children]})}function Ct(e,t,n){let[,...r]=gt(t,e,n).data();return Math.max(0,...r.map(Tt))}function wt(e,t,n){let[,...r]=_t(t,e,n).data();return Math.max(0,...r.map(Tt))}function Tt(e){let t=0;for(let n of e)n>t&&(t=n);return t}function Et(e){let t=e.levels.filter(e=>e.share>0).map(e=>e.delivered/e.share),n=t.reduce((e,t)=>e+t,0),r=t.reduce((e,t)=>e+t*t,0);return r>0?n*n/(t.length*r):NaN}function Dt(e){let t={flow:0,part:1/0};return e.levels.forEach((e,n)=>{let r=e.share>0?e.delivered/e.share:1/0;r<t.part&&(t={flow:n,part:r})}),t}function Z(e){let t=e.levels.map(e=>e.share).filter(Number.isFinite);return t.length>0?Math.max(...t):void 0}function Q(e,t){let n=mt(e);return t.levels.map((t,r)=>({name:e.flows[r]?.name??``,demand:t.demand,delivered:t.delivered,colour:n[r]?.colour??0}))}function Ot(e){let{about:t,side:n,index:i,slow:a,top:s}=e;return r(()=>{let e=Q(t,n),r=Z(n);return l(`section`,{class:`card`,children:[l(`header`,{children:l(`h2`,{children:[`Who gets what `,l(`span`,{class:`side`,children:[`under `,t.sides[i]]})]})}),l(`p`,{class:`faint small`,children:[`last second`,r===void 0?``:`; Jain ${o(Et(n))}`]}),l(h,{title:`What each flow wants and gets under ${t.sides[i]}`,levels:e,share:r,top:s,format:u,height:190})]})},[a,n,s])}function kt(e,t){let n=[...new Set(e.flows.map(e=>e.group))],r=e.causes.map((e,t)=>({name:e,index:t})).filter(({index:e})=>t.some(t=>(t.dropped[e]??0)>0)),i=(t,n)=>e.flows.reduce((e,r,i)=>r.group===n?e+(t.droppedOf[i]??0):e,0);return[{title:`Drops by cause`,rows:r.map(({name:e,index:n})=>({name:e,values:t.map(e=>e.dropped[n]??0)}))},{title:`Drops by who sent`,rows:n.map(e=>({name:e,values:t.map(t=>i(t,e))}))}]}var At=`packets since the start`;function jt(e){let{about:t,sides:n,slow:o}=e;return r(()=>l(`section`,{class:`card wide`,children:[l(`header`,{children:[l(`h2`,{children:`Drops`}),l(`span`,{class:`faint small`,children:At})]}),l(`div`,{class:`drops`,children:kt(t,n).map(({title:e,rows:n})=>l(i,{title:e,columns:t.sides,rows:n,format:a},e))})]}),[o,n])}function Mt({game:e,about:t,view:n,kernel:r}){let{sides:i}=e,o=(e,n)=>`${e} under ${t.sides[n]??``}`,s=Math.max(...i.map(e=>d(Q(t,e),Z(e)))),c=(e,t)=>({kind:`lines`,shown:t===void 0?e:{...e,title:o(e.title,t)}}),l=i.map((e,r)=>c(_t(t,e,n),r));return[...i.map((n,r)=>({kind:`bars`,title:o(`Who gets what`,r),about:`in the second before ${e.now.toFixed(2)} s; outline: what it wants`,levels:Q(t,n),share:Z(n),top:s,format:u})),...i.map((e,r)=>c(gt(t,e,n),r)),...t.flows.some(e=>e.is_tcp)?l:[],c(yt(t,i,n)),c(bt(t,i,n)),...r===null?[]:De(r,t).map(e=>c(e)),...kt(t,i).map(({title:e,rows:n})=>({kind:`table`,title:e,about:At,columns:t.sides,rows:n,format:a}))]}var Nt=[2,5,10,30,120],Pt=[1,5,10,25,100],Ft=100,It=1e3,Lt=5;function Rt(){let[e,n]=y(null),[r,i]=y([]),[a,o]=y(null),[s,c]=y(``),[u,d]=y(null),[f,p]=y({span:10,smooth:10}),[h,g]=y(null),[v,b]=y(null),[,x]=y(0),S=_(!1),C=e=>o({mood:`bad`,text:e}),w=async(e,t,n=!0)=>{try{return await e.start(t),e.setPlaying(n),!0}catch(e){return C($(e)),!1}};t(()=>{S.current||(S.current=!0,addEventListener(`hashchange`,()=>location.reload()),zt(n,i,c,d,o,g,()=>x(e=>e+1),w).catch(e=>C($(e))))},[]);let T=async(t,n,r=!1)=>{let i=r?(e?.isPlaying??!1)||(e?.isOver??!1):!m();return!e||!await w(e,t,i)?!1:(r||d(Bt(e,t,n)),b(null),c(n),history.replaceState(null,``,await st(n?{lesson:n}:{scenario:t})),!0)},ee=_(Promise.resolve()),te=(e,t)=>{let n=ee.current.then(()=>E(e,t));return ee.current=n,n},E=async(t,n)=>{if(!e?.about||t[0]===`flow`&&t.length>1&&M(e.about.document,t.slice(0,2))===void 0)return!1;o(null);let r=typeof n==`function`?n(e.about.document):n,i=ae(e.about.document,t,r);try{let n=t[0]===`disciplines`&&Array.isArray(r)&&r.length!==e.about.sides.length;if(r!==void 0&&!n&&!e.isOver&&await e.set([`${t.join(`.`)}=${j(r)}`])){c(``);let{runs:t}=e;return o({mood:`plain`,text:`Changed at ${e.now.toFixed(2)} s; the run goes on.`,isTrue:()=>e.runs===t&&!e.isOver}),history.replaceState(null,``,await st({scenario:e.about.toml})),!0}}catch(e){return C($(e).replace(/^--set:\d+:\d+: /,``)),!1}if(delete i.expect,!await T(ne(i),``,!0))return!1;let{runs:a}=e;return o({mood:`plain`,text:`This needs a new run: it began again.`,isTrue:()=>e.runs===a&&e.now<Lt&&!e.isOver}),!0},D=e=>(C(e),!1),O=()=>o(e=>e?.isTrue&&!e.isTrue()?null:e),k=e=>{o(null);let t=Y.find(t=>t.name===e);T(t?.scenario??h?.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,t?e:``)},A=e?.about??null;return l(`main`,{class:`play`,children:[l(`header`,{class:`top`,children:[l(`h1`,{children:`fairwire play`}),l(`label`,{class:`pick`,children:[l(`span`,{class:`unseen`,children:`lesson`}),l(`select`,{value:s,onChange:e=>k(e.currentTarget.value),children:[l(`option`,{value:``,children:`free play`}),[!1,!0].map(e=>l(`optgroup`,{label:e?`exercises`:`lessons`,children:Y.filter(t=>t.isExercise===e).map((e,t)=>l(`option`,{value:e.name,children:[t+1,`. `,e.title]},e.name))},String(e)))]})]}),e&&A&&l(Ht,{game:e,view:f,setView:p,clear:()=>o(null),fail:C})]}),a&&l(`p`,{class:a.mood===`bad`?`notice bad`:`notice`,role:`alert`,children:a.text}),e&&A?l(`div`,{class:`body`,children:[l(`aside`,{"aria-label":`the contest`,children:[A.lesson&&l(nt,{game:e,about:A,lesson:A.lesson,isExercise:Y.some(e=>e.isExercise&&e.name===u?.name),restore:u&&A.toml!==u.toml?()=>T(u.scenario,u.name):null}),l(oe,{about:A,parts:r,edit:te,refuse:D}),h?.hasKernel&&l(Jt,{about:A,setKernel:b,fail:C}),l(Yt,{game:e,view:f,kernel:v,lesson:s,fail:C})]}),l(Wt,{game:e,view:f,kernel:v,look:O})]}):l(`p`,{class:`faint wait`,children:`The simulator is being loaded…`})]})}function $(e){return e instanceof Error?e.message:String(e)}async function zt(e,t,n,r,i,a,o,s){let c=e=>i({mood:`bad`,text:e}),l=await xe();a(l);let u=await Se(l,e=>e!==`page`||!new URLSearchParams(location.search).has(`process`)),d=new $e(u,o,c);t(await L(u,`catalogue`));let f=await Vt(l.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,c),p=!m();await s(d,f.scenario,p)?(n(f.lesson),r(Bt(d,f.scenario,f.lesson))):await s(d,l.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,p),e(d)}function Bt(e,t,n){return e.about?.lesson?{name:n,scenario:t,toml:e.about.toml}:null}async function Vt(e,t){try{let t=await ct(location.hash);if(!t)return{scenario:e,lesson:``};if(`scenario`in t)return{scenario:t.scenario,lesson:``};let n=Y.find(e=>e.name===t.lesson);if(n)return{scenario:n.scenario,lesson:n.name};throw Error(`there is no lesson \`${t.lesson}\``)}catch(n){return t(`The address says what to show, but ${$(n)}. This is the contest that the page begins with.`),{scenario:e,lesson:``}}}function Ht({game:e,view:t,setView:n,clear:r,fail:i}){let[a,o]=y(e.speed);return l(`div`,{class:`transport controls`,role:`toolbar`,"aria-label":`time`,children:[l(`button`,{type:`button`,class:`primary`,onClick:()=>e.setPlaying(!e.isPlaying),disabled:e.isOver,children:e.isPlaying?`Pause`:`Play`}),l(`button`,{type:`button`,onClick:()=>void e.step(),disabled:e.isOver,children:`Step`}),l(`button`,{type:`button`,onClick:()=>{r(),Ut(e).catch(e=>i($(e)))},children:`Restart`}),l(`label`,{children:[`speed`,` `,l(`select`,{value:a,onChange:t=>{e.speed=Number(t.currentTarget.value),o(e.speed)},children:Ze.map(e=>l(`option`,{value:e,children:e<1?`1/${Math.round(1/e)}`:`${e}×`},e))})]}),l(`label`,{children:[`shows`,` `,l(`select`,{value:t.span,onChange:e=>n({...t,span:Number(e.currentTarget.value)}),children:Nt.map(e=>l(`option`,{value:e,children:[e,` s`]},e))})]}),l(`label`,{children:[`rates over`,` `,l(`select`,{value:t.smooth,onChange:e=>n({...t,smooth:Number(e.currentTarget.value)}),children:Pt.map(e=>l(`option`,{value:e,children:[e*10,` ms`]},e))})]})]})}async function Ut(e){e.about&&(await e.start(e.about.toml),e.setPlaying(!0))}function Wt({game:e,view:n,kernel:r,look:i}){let[a,o]=y(0),[c,u]=y(0);t(()=>{let t=0,n=-1,r=0,a=m(),s=c=>{t=requestAnimationFrame(s),e.tick(c);let l=c-r>=(a?It:Ft);e.frames===n||a&&!l&&e.isPlaying||(n=e.frames,o(n),(l||!e.isPlaying)&&(r=c,u(n),i()))};return t=requestAnimationFrame(s),()=>cancelAnimationFrame(t)},[e]);let{about:d}=e;return!d||e.sides.length===0?null:l(`div`,{class:`right`,children:[l(`p`,{class:`says`,children:[l(`span`,{class:`clock number`,"data-now":e.now,children:[e.now.toFixed(2),` s`]}),` `,`of `,s(d.duration_s),`; simulated `,e.door.place,`, seed `,d.seed,`.`,` `,d.sides.map((t,n)=>{let r=e.sides[n];return r?l(`span`,{children:[l(`strong`,{children:t}),`: `,Z(r)===void 0?`no fair share is worked out for this contest`:qt(d,r),`.`,` `]},t):null}),e.isOver&&l(`strong`,{children:`The run is at its end.`})]}),l(xt,{game:e,about:d,view:n,version:a,slow:c,kernel:r})]})}var Gt=.6,Kt=.9;function qt(e,t){let n=Et(t);if(Number.isNaN(n))return`nothing was sent in the last second`;let r=Dt(t),i=`${e.flows[r.flow]?.name??``} has ${p(r.part)} of its fair share`;return`${r.part>=Kt?`fair in the last second`:r.part>=Gt?`nearly fair: ${i}`:`unfair: ${i}`} (Jain ${o(n)})`}function Jt(e){let[t,n]=y(!1),r=async()=>{n(!0);try{e.setKernel(await Ee(e.about.toml))}catch(t){e.fail(`The contest could not run on this machine's kernel.\n${$(t)}`)}finally{n(!1)}};return l(`fieldset`,{class:`take`,children:[l(`legend`,{children:`On this machine's kernel`}),l(`button`,{type:`button`,disabled:t,onClick:()=>void r(),children:t?`Running…`:`Run it between real sockets`}),l(`span`,{class:`faint small`,children:`ten seconds for each discipline; needs root or user namespaces`})]})}function Yt(e){let{game:t,view:n,kernel:r,lesson:i,fail:a}=e,{about:o}=t;if(!o)return null;let s=()=>Ie(o.title||o.name,Mt({game:t,about:o,view:n,kernel:r})),{name:c}=o,u=(e,t)=>new Blob([e],{type:t}),d=async()=>{i===``&&history.replaceState(null,``,await st({scenario:o.toml})),await navigator.clipboard.writeText(location.href)};return l(`fieldset`,{class:`take`,children:[l(`legend`,{children:`Take along`}),l(`button`,{type:`button`,onClick:()=>q(`${c}.toml`,u(o.toml,`text/plain`)),children:`Scenario`}),l(`button`,{type:`button`,onClick:()=>q(`${c}.csv`,u(Xe(o,t),`text/csv`)),children:`CSV`}),l(`button`,{type:`button`,onClick:()=>q(`${c}.svg`,u(s(),`image/svg+xml`)),children:`SVG`}),l(`button`,{type:`button`,onClick:()=>void Je(s()).then(e=>q(`${c}.png`,e)).catch(e=>a($(e))),children:`PNG`}),l(`button`,{type:`button`,onClick:()=>void d().catch(e=>a($(e))),children:`Copy address`})]})}var Xt=document.getElementById(`page`);Xt&&(Xt.replaceChildren(),e(l(Rt,{}),Xt));
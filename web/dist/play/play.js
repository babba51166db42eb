var e,t,n,r,i,a,o,s,c,l,u=Symbol.for(`pv`),d={},f=[],p=/^m(i|n|o|s|text|space)$/,m=Array.isArray,h=f.slice,g=Object.assign;function _(e){e&&e.parentNode&&e.remove()}function v(n,r,i,a,o){var s={type:n,props:r,key:i,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:u,__v:o||++t,__i:-1,__u:0};return!o&&e.vnode&&e.vnode(s),s}function y(e){return e.children}function b(e,t){this.props=e,this.context=t,this.__g=0}function x(e,t){if(t==null)return e.__&&x(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!=`function`||e.props.__P?null:x(e)}function S(t){var n,r=t.__v,i=r.__e,a=[],o=[],s=t.__P;s&&((n=g({constructor:u},r)).__v=r.__v+1,e.vnode&&e.vnode(n),ee(s,n,r,t.__n,s.namespaceURI,32&r.__u?[i]:null,a,i||x(r),32&r.__u,o),n.__v=r.__v,n.__.__k[n.__i]=n,re(a,n,o),r.__=r.__e=null,n.__e!=i&&C(n))}function C(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),C(e)}function w(t){(8&t.__g||(t.__g|=8,n.push(t),i++))&&r==e.debounceRendering||((r=e.debounceRendering)||queueMicrotask)(T)}function T(){try{for(var e,t=1;n.length;)n.length>t&&n.sort(a),e=n.shift(),t=n.length,8&e.__g&&S(e)}finally{(i=n.length)&&(r||queueMicrotask)(T)}}function E(e,t,n,r,i,a,o,s,c,l,u){var p,m,h,g,_,v,y=r.__k||f,b=t.length;for(c=D(n,t,y,c,b),p=0;p<b;p++)(h=n.__k[p])!=null&&(m=~h.__i&&y[h.__i]||d,h.__i=p,v=ee(e,h,m,i,a,o,s,c,l,u),g=h.__e,(m.ref!=h.ref||8&m.__u)&&(m.ref&&N(m.ref,null,h,m),h.ref&&u.push(h.ref,h.__c||g,h)),_||=g,4&h.__u?(c=O(h,c,e,!m.__v),m.__e&&(m.__e=null)):typeof h.type==`function`&&v!==void 0?c=v:g&&(c=g.nextSibling),h.__u&=-21);return n.__e=_,c}function D(e,t,n,r,i){var a,o,s,c,l,d,f,p,h,g=n.length,_=g,b=0,S=0,C=e.__k=Array(i);for(a=0;a<i;a++)(o=t[a])!=null&&typeof o!=`boolean`&&typeof o!=`function`?(typeof o!=`object`||o.constructor===String?o=C[a]=v(null,o):m(o)?o=C[a]=v(y,{children:o}):o.constructor===u&&o.__b?o=C[a]=v(o.type,o.props,o.key,o.ref,o.__v):C[a]=o,c=a+b,o.__=e,o.__b=e.__b+1,s=null,~(l=o.__i=k(o,n,c,_))&&(_--,(s=n[l])&&(s.__u|=2)),s&&s.__v?(o.__u|=16,l==c-1?b--:l==c+1?b++:l!=c&&(l>c?b--:b++,S=1)):(~l||(i>g?b--:i<g&&b++),typeof o.type!=`function`&&(o.__u|=4))):C[a]=null;if(S){for(d=[],f=[],a=0;a<i;a++)if((o=C[a])&&16&o.__u){for(b=0,p=d.length;b<p;)d[h=b+p>>1]<o.__i?b=h+1:p=h;d[b]=o.__i,f[a]=b+1}for(b=d.length;a--;)f[a]&&(f[a]==b?b--:C[a].__u|=4)}if(_)for(a=0;a<g;a++)!(s=n[a])||2&s.__u||(s.__e==r&&(r=x(s)),P(s,s));return r}function O(e,t,n,r){var i,a,o,s;if(typeof e.type==`function`){if(e.props.__P)return t;if(i=e.__k)for(a=0;a<i.length;a++)i[a]&&(i[a].__=e,t=O(i[a],t,n,!1));return t}for(t&&!t.parentNode&&(t=x(e))&&!t.parentNode&&(t=null),o=e.__e,s=t;s&&s.nodeType==8;)s=s.nextSibling;for(o!=s&&(!r&&n.moveBefore&&o.parentNode?n.moveBefore(o,t):n.insertBefore(o,t||null)),t=o;(t&&=t.nextSibling)&&t.nodeType==8&&!t.data.startsWith(`$s`););return t}function k(e,t,n,r){var i,a=e.key,o=e.type,s=t[n],c=s&&!(2&s.__u);if(s===null&&a==null||c&&a==s.key&&o==s.type)return n;if(r>+!!c){for(i=n-1;i>=0;i--)if((s=t[i])&&!(2&s.__u)&&a==s.key&&o==s.type)return i;for(i=n+1;i<t.length;i++)if((s=t[i])&&!(2&s.__u)&&a==s.key&&o==s.type)return i}return-1}function A(e,t,n){n??=``,t[0]==`-`?e.setProperty(t,n):e[t]=n}function j(e,t,n,r,i){var a,o;if(t==`style`){if(typeof n==`string`)e.style.cssText=n;else{if(typeof r==`string`&&(e.style.cssText=r=``),r)for(t in r)n&&t in n||A(e.style,t);if(n)for(t in n)r&&n[t]==r[t]||A(e.style,t,n[t])}}else if(t[0]==`o`&&t[1]==`n`)typeof n!=`function`&&(n=null),typeof r!=`function`&&(r=null),(e.__e||={})[t]=n,n&&r||(o=l[t]||(l[t]=M(t)),(e.__a||={})[t]=c,a=t!=(t=t.replace(s,`$1`)),(t=t.slice(2))[0]<`a`&&(t=t.toLowerCase()),n?e.addEventListener(t,o,a):e.removeEventListener(t,o,a));else{if(i==`http://www.w3.org/2000/svg`)t=t.replace(/xlink(H|:h)/,`h`).replace(/sName$/,`s`);else if(t!=`width`&&t!=`height`&&t!=`href`&&t!=`list`&&t!=`form`&&t!=`tabIndex`&&t!=`download`&&t!=`rowSpan`&&t!=`colSpan`&&t!=`role`&&t!=`popover`&&t in e)try{e[t]=n??``;return}catch{}if(typeof n==`function`)return;n==null||!1===n&&t[4]!=`-`?e.removeAttribute(t):e.setAttribute(t,t==`popover`&&n==1?``:n)}}function M(t){return function(n){var r=this.__e;if(r){if(r=r[t],n[o]==null)n[o]=c++;else if(n[o]<this.__a[t])return;return r(e.event?e.event(n):n)}}}function ee(t,n,r,i,a,o,s,c,l,d){var p,h,v,S,C,w,T,D,O,k,A,j,M,ee,re,N,I,L,R=n.type;if(n.constructor!==u)return null;128&r.__u&&(l=32&r.__u,p=r.__c.__z)&&(n.__u|=l,h=o=[],p.nodeType==8?c=te(p,o):o.push(p),c=o[0]||c),(p=e.__b)&&p(n);n:if(typeof R==`function`){v=s.length;try{if(D=n.props,O=(p=R.prototype)&&p.render,k=(p=R.contextType)&&i[p.__c],A=p?k?k.props.value:p.__:i,(S=r.__c)?(n.__c=S,2&S.__g&&(S.__g|=1)):(O?n.__c=S=new R(D,A):(n.__c=S=new b(D,A),S.constructor=R,S.render=F),k&&k.sub(S),S.state||(S.state={}),S.__n=i,S.__g|=8,S.__h=[],S.__k=[]),O&&(S.__s||(S.__s=S.state),R.getDerivedStateFromProps&&(S.__s==S.state&&(S.__s=g({},S.__s)),g(S.__s,R.getDerivedStateFromProps(D,S.__s)))),C=S.props,w=S.state,S.__v=n,r.__c){if(D!==C&&O&&!R.getDerivedStateFromProps&&S.componentWillReceiveProps&&S.componentWillReceiveProps(D,A),n.__v==r.__v&&!(8&S.__g)||!(4&S.__g)&&S.shouldComponentUpdate&&!1===S.shouldComponentUpdate(D,S.__s,A)){n.__v!=r.__v&&(S.props=D,S.state=S.__s,S.__g&=-9),n.__e=r.__e,n.__k=r.__k,n.__k.some(function(e){e&&(e.__=n)}),f.push.apply(S.__h,S.__k),S.__k=[],S.__h.length&&s.push(S),c=x(r);break n}S.componentWillUpdate&&S.componentWillUpdate(D,S.__s,A),O&&S.componentDidUpdate&&S.__h.push(function(){S.componentDidUpdate(C,w,T)})}else O&&!R.getDerivedStateFromProps&&S.componentWillMount&&S.componentWillMount(),O&&S.componentDidMount&&S.__h.push(S.componentDidMount);S.context=A,S.props=D,S.__P=t,S.__g&=-5,j=e.__r,M=O?25:0;do S.__g&=-9,j&&j(n),p=S.render(S.props,S.state=S.__s,S.context);while(8&S.__g&&++M<25);O&&(f.push.apply(S.__h,S.__k),S.__k=[]),S.state=S.__s,S.getChildContext&&(i=g({},i,S.getChildContext())),O&&r.__c&&S.getSnapshotBeforeUpdate&&(T=S.getSnapshotBeforeUpdate(C,w)),ee=p&&p.type===y&&p.key==null?p.props.children:p,D.__P&&(p=c,a=(t=D.__P).namespaceURI,l=o=null,r.props&&r.props.__P!=t&&(r.__k.some(function(e){e&&P(e,e)}),r.__k=null),c=r.__k?x(r,0):null),c=E(t,m(ee)?ee:[ee],n,r,i,a,o,s,c,l,d),D.__P&&(n.__e=null,c=p),n.__u&=-161,h&&h.some(_),S.__h.length&&s.push(S),1&S.__g&&(S.__g&=-4)}catch(t){if(s.length=v,n.__v=null,l||o){if(t&&t.then){if(n.__u|=128|l,o){for(~(I=o.indexOf(c||void 0))||(I=o.length);(L=o[I-1])&&L.nodeType==8;)I--;for(;I<o.length;I++)if(L=o[I]){if(o[I]=null,re){if(L==N)break}else{if(L.nodeType!=8)break;L.data.startsWith(`$s`)&&(N=te(re=L))}}}if(!re){for(;c&&c.nodeType==8&&c.nextSibling;)c=c.nextSibling;re=c}(p=te(re=n.__c.__z||(n.__c.__z=re)))?(n.__e=re,c=p):n.__e=c,c&&=c.nextSibling}else o&&o.some(_)}else n.__e=r.__e;n.__k||=r.__k||[],t&&t.then||ne(n),e.__e(t,n,r)}}else c=n.__e=ie(r.__e,n,r,i,a,o,s,l,d,t);return(p=e.diffed)&&p(n),c}function te(e,t){if(e&&e.nodeType==8&&e.data.startsWith(`$s`))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith(`$s`))n++;else if(e.data.startsWith(`/$s`)&&!--n)return e}t&&t.push(e)}}function ne(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(ne))}function re(t,n,r){for(var i=0;i<r.length;)N(r[i++],r[i++],r[i++]);e.__c&&e.__c(n,t),t.some(function(n){try{t=n.__h,n.__h=[],t.some(function(e){e.call(n)})}catch(t){e.__e(t,n.__v)}})}function ie(t,n,r,i,a,o,s,c,l,u){var f,g,v,y,b,S,C,w,T=r.props||d,D=n.props,O=n.type;if(O==`svg`?a=`http://www.w3.org/2000/svg`:O==`math`?a=`http://www.w3.org/1998/Math/MathML`:a||=`http://www.w3.org/1999/xhtml`,o){for(f=0;f<o.length;f++)if((b=o[f])&&(O?b.localName==O:b.nodeType==3)){t=b,o[f]=null;break}}if(!t){if(w=u.ownerDocument||document,!O)return w.createTextNode(D);t=w.createElementNS(a,O,D.is?D:u),c&&=(e.__m&&e.__m(n,o),!1),o=null}if(O){if(u=O==`template`&&t.content||t,o=O==`textarea`&&D.defaultValue!=null?null:o&&h.call(u.childNodes),!c&&o)for(T={},f=0;f<t.attributes.length;f++)T[(b=t.attributes[f]).name]=b.value;for(f in T)b=T[f],f==`dangerouslySetInnerHTML`?v=b:f==`children`||f in D||f==`value`&&`defaultValue`in D||f==`checked`&&`defaultChecked`in D||j(t,f,null,b,a);for(f in D)b=D[f],f==`children`?y=b:f==`dangerouslySetInnerHTML`?g=b:f==`value`?S=b:f==`checked`?C=b:c&&typeof b!=`function`||T[f]===b||j(t,f,b,T[f],a);g?(c||v&&(g.__html==v.__html||g.__html==t.innerHTML)||(t.innerHTML=g.__html),n.__k=[]):(v&&(t.textContent=``),(O==`foreignObject`||a==`http://www.w3.org/1998/Math/MathML`&&p.test(O))&&(a=`http://www.w3.org/1999/xhtml`),E(u,m(y)?y:[y],n,r,i,a,o,s,o?o[0]:r.__k&&x(r,0),c,l),o&&o.some(_)),c&&O!=`textarea`||(f=`value`,O==`progress`&&S==null?t.removeAttribute(f):S==null||S===t[f]&&(O!=`progress`||S)||j(t,f,S,T[f],a),f=`checked`,C!=null&&C!=t[f]&&j(t,f,C,T[f],a))}else T===D||c&&t.data==D||(t.data=D);return t}function N(t,n,r,i){try{typeof t==`function`?n?n.__x=t(n)||1:(i&&=i.__c||i.__e)&&(n=i.__x)&&(i.__x=null,typeof n==`function`?n():t(null)):t.current=n}catch(t){e.__e(t,r)}}function P(t,n,r){var i,a,o,s;if(e.unmount&&e.unmount(t),!(i=t.ref)||i.current&&i.current!=t.__e||N(i,null,n,t),i=t.__c){if(i.componentWillUnmount)try{i.componentWillUnmount()}catch(t){e.__e(t,n)}i.__P=i.__n=null}if(i=t.__k)for(s=0;s<i.length;s++)i[s]&&P(i[s],n,typeof t.type!=`function`||r&&!t.props.__P);!r&&(i=t.__c)&&(i=i.__z)&&(a=te(i,o=[]))&&(i==t.__e&&o.some(_),_(a),_(i)),r||_(t.__e),t.__e=t.__c=t.__=null}function F(e,t,n){return this.constructor(e,n)}function I(t,n){var r,i,a,o;e.__&&e.__(t,n),n.nodeType==9&&(n=n.documentElement),i=(r=t&&32&t.__u)?null:n.__k,n.__k=v(y,{children:[t]}),a=[],o=[],ee(n,n.__k,i||d,d,n.namespaceURI,i?null:n.firstChild?h.call(n.childNodes):null,a,i?i.__e:n.firstChild,r,o),re(a,n.__k,o),n.__k.props.children=null}e={__e:function(e,t,n,r){for(var a,o,s;t=t.__;)if((a=t.__c)&&!(1&a.__g)){a.__g|=4;try{if((s=(o=a.constructor)&&o.getDerivedStateFromError)&&a.setState(o.getDerivedStateFromError(e)),a.componentDidCatch&&(a.componentDidCatch(e,r||{}),s=1),s&&8&a.__g)return void(a.__g|=2)}catch(t){e=t}}throw i=0,e}},t=0,b.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=g({},this.state)),typeof e==`function`&&(e=e(g({},n),this.props)),e&&(g(n,e),this.__v&&(t&&this.__k.push(t),w(this)))},b.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),w(this))},b.prototype.render=y,n=[],i=0,a=function(e,t){return e.__v.__b-t.__v.__b},o=Symbol(),s=/(PointerCapture)$|Capture$/i,c=0,l={};var L,R,ae,oe,se=Object.is,ce=0,le=[],ue=[],z=e,de=z.__b,fe=z.__r,pe=z.diffed,me=z.__c,he=z.unmount,ge=z.__;function _e(e,t){z.__h&&z.__h(R,e,ce||t),ce=0;var n=R.__H||(R.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function B(e){return ce=1,ve(De,e)}function ve(e,t,n){var r=_e(L++,2);if(r.t=e,!r.__c&&(r.__=[n?n(t):De(void 0,t),function(e){var t=(r.__N||r.__)[0],n=r.t(t,e);se(t,n)||(r.__N=[n,r.__[1]],r.__c.setState({}))}],r.__c=R,!R.__f)){R.__f=!0;var i=R.shouldComponentUpdate;R.shouldComponentUpdate=function(e,t,n){var r=this.__H;if(!r)return!0;var a=!1,o=this.props!=e;if(r.__.some(function(e){e.__N&&(a=!0,se(e.__[0],e.__N[0])||(o=!0))}),i){var s=i.call(this,e,t,n);return a?s||o:s}return!a||o}}return r.__}function V(e,t){var n=_e(L++,3);!z.__s&&Ee(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,R.__H.__h.push(n))}function H(e){return ce=5,ye(function(){return{current:e}},[])}function ye(e,t){var n=_e(L++,7);return Ee(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function be(){var e;do{for(;e=ue.shift();)try{we(e)}catch(t){z.__e(t,{__:(e=e.__P)&&e.__v})}for(;e=le.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(we),t.__h.some(Te),t.__h=[]}catch(n){t.__h=[],z.__e(n,e.__v)}}}while(ue.length)}z.__b=function(e){R=null,de&&de(e)},z.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),ge&&ge(e,t)},z.__r=function(e){fe&&fe(e),L=0;var t=(R=e.__c).__H;t&&(ae==R?R.__h=[]:(t.__h.some(we),t.__h.some(Te),L=0),t.__h=[],t.__.some(function(e){e.__N&&(e.__=e.__N),e.u=e.__N=void 0})),ae=R},z.diffed=function(e){pe&&pe(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Ce(le.push(t)),t.__H.__.some(function(e){e.u&&(e.__H=e.u)})),ae=R=null},z.__c=function(e,t){t.some(function(e){try{e.__h.some(we),e.__h=e.__h.filter(function(e){return!e.__||Te(e)})}catch(t){e.__h=[function(){throw t}]}}),me&&me(e,t)},z.unmount=function(e){he&&he(e);var t,n,r=e.__c;r&&r.__H&&(r.__H.__.some(function(r){try{if(r.__P&&r.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n&&=n.__c}r.__P=n,Ce(ue.push(r))}else we(r)}catch(e){t=e}}),r.__H=void 0,t&&z.__e(t,r.__v))};var xe=typeof requestAnimationFrame==`function`;function Se(e){var t,n=function(){clearTimeout(r),xe&&cancelAnimationFrame(t),setTimeout(e)},r=setTimeout(n,35);xe&&(t=requestAnimationFrame(n))}function Ce(e){e!=1&&oe==z.requestAnimationFrame||((oe=z.requestAnimationFrame)||Se)(be)}function we(e){var t=R,n=e.__c;typeof n==`function`&&(e.__c=void 0,n()),R=t}function Te(e){var t=R;e.__c=e.__(),R=t}function Ee(e,t){return!e||e.length!=t.length||t.some(function(t,n){return!se(t,e[n])})}function De(e,t){return typeof t==`function`?t(e):t}var Oe=[``,`k`,`M`,`G`,`T`];function ke(e,t,n){let r=0,i=Math.abs(e);for(;i>=999.5&&r<Oe.length-1;)i/=1e3,r+=1;return`${Ae(e<0?-i:i,n)} ${Oe[r]??``}${t}`}function Ae(e,t=3){if(!Number.isFinite(e))return`–`;if(e===0)return`0`;let n=Math.floor(Math.log10(Math.abs(e)))+1;return e.toFixed(Math.max(0,Math.min(6,t-n)))}function je(e,t=3){return Number.isFinite(e)?ke(e,`bit/s`,t):`–`}function Me(e,t=3){if(!Number.isFinite(e))return`–`;let n=Math.abs(e);return n>=1||n===0?`${Ae(e,t)} s`:n>=.001?`${Ae(e*1e3,t)} ms`:`${Ae(e*1e6,t)} µs`}function Ne(e){return Number.isFinite(e)?Math.round(e).toString().replace(/\B(?=(\d{3})+$)/g,` `):`–`}function Pe(e,t=3){return Number.isFinite(e)?`${Ae(e*100,t)} %`:`–`}function Fe(e){return e.replace(/(\.\d*?)0+(?=\D|$)/,`$1`).replace(/\.(?=\D|$)/,``)}var Ie=Symbol.for(`pv`),Le=0;Array.isArray;function U(t,n,r,i,a,o){n||={};var s,c,l=n;if(`ref`in l&&typeof t!=`function`)for(c in l={},n)c==`ref`?s=n[c]:l[c]=n[c];var u={type:t,props:l,key:r,ref:s,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Ie,__v:--Le,__i:-1,__u:0};return(a||o)&&(u.__source=a,u.__self=o),e.vnode&&e.vnode(u),u}var Re=9;function ze(e){let t=Math.max(0,...e.rows.flatMap(e=>e.values));return U(`div`,{class:`heat-map`,role:`region`,"aria-label":e.title,tabIndex:0,children:U(`table`,{children:[U(`caption`,{class:`unseen`,children:e.title}),U(`thead`,{children:U(`tr`,{children:[U(`td`,{}),e.columns.map(e=>U(`th`,{scope:`col`,children:e},e))]})}),U(`tbody`,{children:e.rows.map(n=>U(`tr`,{children:[U(`th`,{scope:`row`,children:n.name}),e.columns.map((r,i)=>{let a=n.values[i]??0,o=a===0?`·`:e.format(a);return U(`td`,{class:`shade-${Be(a,t)}`,children:e.onPick&&a>0?U(`button`,{type:`button`,onClick:()=>e.onPick?.(n.name,r),children:o}):o},r)})]},n.name))})]})})}function Be(e,t){return e<=0||t<=0?0:Math.max(1,Math.round(Re*Math.sqrt(e/t)))}var Ve=!0,He=`uplot`,Ue=`u-hz`,We=`u-vt`,Ge=`u-title`,Ke=`u-wrap`,qe=`u-under`,Je=`u-over`,Ye=`u-axis`,Xe=`u-off`,Ze=`u-select`,Qe=`u-cursor-x`,$e=`u-cursor-y`,et=`u-cursor-pt`,tt=`u-legend`,nt=`u-live`,rt=`u-inline`,it=`u-series`,at=`u-marker`,ot=`u-label`,st=`u-value`,ct=`width`,lt=`height`,ut=`top`,dt=`bottom`,ft=`left`,pt=`right`,mt=`#000`,ht=`#0000`,gt=`mousemove`,_t=`mousedown`,vt=`mouseup`,yt=`mouseenter`,bt=`mouseleave`,xt=`dblclick`,St=`resize`,Ct=`scroll`,wt=`change`,Tt=`dppxchange`,Et=`--`,Dt=typeof window<`u`,Ot=Dt?document:null,kt=Dt?window:null,At=Dt?navigator:null,W,jt;function Mt(){let e=devicePixelRatio;W!=e&&(W=e,jt&&Kt(wt,jt,Mt),jt=matchMedia(`(min-resolution: ${W-.001}dppx) and (max-resolution: ${W+.001}dppx)`),Gt(wt,jt,Mt),kt.dispatchEvent(new CustomEvent(Tt)))}function Nt(e,t){if(t!=null){let n=e.classList;!n.contains(t)&&n.add(t)}}function Pt(e,t){let n=e.classList;n.contains(t)&&n.remove(t)}function G(e,t,n){e.style[t]=n+`px`}function Ft(e,t,n,r){let i=Ot.createElement(e);return t!=null&&Nt(i,t),n?.insertBefore(i,r),i}function It(e,t){return Ft(`div`,e,t)}var Lt=new WeakMap;function Rt(e,t,n,r,i){let a=`translate(`+t+`px,`+n+`px)`;a!=Lt.get(e)&&(e.style.transform=a,Lt.set(e,a),t<0||n<0||t>r||n>i?Nt(e,Xe):Pt(e,Xe))}var zt=new WeakMap;function Bt(e,t,n){let r=t+n;r!=zt.get(e)&&(zt.set(e,r),e.style.background=t,e.style.borderColor=n)}var Vt=new WeakMap;function Ht(e,t,n,r){let i=t+``+n;i!=Vt.get(e)&&(Vt.set(e,i),e.style.height=n+`px`,e.style.width=t+`px`,e.style.marginLeft=r?-t/2+`px`:0,e.style.marginTop=r?-n/2+`px`:0)}var Ut={passive:!0},Wt={...Ut,capture:!0};function Gt(e,t,n,r){t.addEventListener(e,n,r?Wt:Ut)}function Kt(e,t,n,r){t.removeEventListener(e,n,Ut)}Dt&&Mt();function qt(e,t,n,r){let i;n||=0,r||=t.length-1;let a=r<=2147483647;for(;r-n>1;)i=a?n+r>>1:mn((n+r)/2),t[i]<e?n=i:r=i;return e-t[n]<=t[r]-e?n:r}function Jt(e){return(t,n,r)=>{let i=-1,a=-1;for(let a=n;a<=r;a++)if(e(t[a])){i=a;break}for(let i=r;i>=n;i--)if(e(t[i])){a=i;break}return[i,a]}}var Yt=e=>e!=null,Xt=e=>e!=null&&e>0,K=Jt(Yt),Zt=Jt(Xt);function Qt(e,t,n,r=0,i=!1){let a=i?Zt:K,o=i?Xt:Yt;[t,n]=a(e,t,n);let s=e[t],c=e[t];if(t>-1){if(r==1)s=e[t],c=e[n];else if(r==-1)s=e[n],c=e[t];else for(let r=t;r<=n;r++){let t=e[r];o(t)&&(t<s?s=t:t>c&&(c=t))}}return[s??Tn,c??-Tn]}function $t(e,t,n,r){let i=bn(e),a=bn(t);e==t&&(i==-1?(e*=n,t/=n):(e/=n,t*=n));let o=n==10?xn:Sn,s=i==1?mn:gn,c=a==1?gn:mn,l=s(o(pn(e))),u=c(o(pn(t))),d=yn(n,l),f=yn(n,u);return n==10&&(l<0&&(d=Y(d,-l)),u<0&&(f=Y(f,-u))),r||n==2?(e=d*i,t=f*a):(e=zn(e,d),t=Rn(t,f)),[e,t]}function en(e,t,n,r){let i=$t(e,t,n,r);return e==0&&(i[0]=0),t==0&&(i[1]=0),i}var tn=.1,nn={mode:3,pad:tn},rn={pad:0,soft:null,mode:0},an={min:rn,max:rn};function on(e,t,n,r){return Xn(n)?cn(e,t,n):(rn.pad=n,rn.soft=r?0:null,rn.mode=r?3:0,cn(e,t,an))}function q(e,t){return e??t}function sn(e,t,n){for(t=q(t,0),n=q(n,e.length-1);t<=n;){if(e[t]!=null)return!0;t++}return!1}function cn(e,t,n){let r=n.min,i=n.max,a=q(r.pad,0),o=q(i.pad,0),s=q(r.hard,-Tn),c=q(i.hard,Tn),l=q(r.soft,Tn),u=q(i.soft,-Tn),d=q(r.mode,0),f=q(i.mode,0),p=t-e,m=xn(p),h=vn(pn(e),pn(t)),g=pn(xn(h)-m);(p<1e-24||g>10)&&(p=0,(e==0||t==0)&&(p=1e-24,d==2&&l!=Tn&&(a=0),f==2&&u!=-Tn&&(o=0)));let _=p||h||1e3,v=yn(10,mn(xn(_))),y=Y(zn(e-_*(p==0?e==0?.1:1:a),v/10),24),b=e>=l&&(d==1||d==3&&y<=l||d==2&&y>=l)?l:Tn,x=vn(s,y<b&&e>=b?b:_n(b,y)),S=Y(Rn(t+_*(p==0?t==0?.1:1:o),v/10),24),C=t<=u&&(f==1||f==3&&S>=u||f==2&&S<=u)?u:-Tn,w=_n(c,S>C&&t<=C?C:vn(C,S));return x==w&&x==0&&(w=100),[x,w]}var ln=new Intl.NumberFormat(Dt?At.language:`en-US`),un=e=>ln.format(e),dn=Math,fn=dn.PI,pn=dn.abs,mn=dn.floor,hn=dn.round,gn=dn.ceil,_n=dn.min,vn=dn.max,yn=dn.pow,bn=dn.sign,xn=dn.log10,Sn=dn.log2,Cn=(e,t=1)=>dn.sinh(e)*t,wn=(e,t=1)=>dn.asinh(e/t),Tn=1/0;function En(e){return(xn((e^e>>31)-(e>>31))|0)+1}function Dn(e,t,n){return _n(vn(e,t),n)}function On(e){return typeof e==`function`}function J(e){return On(e)?e:()=>e}var kn=()=>{},An=e=>e,jn=(e,t)=>t,Mn=e=>null,Nn=e=>!0,Pn=(e,t)=>e==t,Fn=/\.\d*?(?=9{6,}|0{6,})/gm,In=e=>{if(qn(e)||Bn.has(e))return e;let t=`${e}`,n=t.match(Fn);if(n==null)return e;let r=n[0].length-1;if(t.indexOf(`e-`)!=-1){let[e,n]=t.split(`e`);return+`${In(e)}e${n}`}return Y(e,r)};function Ln(e,t){return In(Y(In(e/t))*t)}function Rn(e,t){return In(gn(In(e/t))*t)}function zn(e,t){return In(mn(In(e/t))*t)}function Y(e,t=0){if(qn(e))return e;let n=10**t;return hn(e*n*(1+2**-52))/n}var Bn=new Map;function Vn(e){return((``+e).split(`.`)[1]||``).length}function Hn(e,t,n,r){let i=[],a=r.map(Vn);for(let o=t;o<n;o++){let t=pn(o),n=Y(yn(e,o),t);for(let s=0;s<r.length;s++){let c=e==10?+`${r[s]}e${o}`:r[s]*n,l=(o>=0?0:t)+(o>=a[s]?0:a[s]),u=e==10?c:Y(c,l);i.push(u),Bn.set(u,l)}}return i}var Un={},Wn=[],Gn=[null,null],Kn=Array.isArray,qn=Number.isInteger,Jn=e=>e===void 0;function Yn(e){return typeof e==`string`}function Xn(e){let t=!1;if(e!=null){let n=e.constructor;t=n==null||n==Object}return t}function Zn(e){return typeof e==`object`&&!!e}var Qn=Object.getPrototypeOf(Uint8Array),$n=`__proto__`;function er(e,t=Xn){let n;if(Kn(e)){let r=e.find(e=>e!=null);if(Kn(r)||t(r)){n=Array(e.length);for(let r=0;r<e.length;r++)n[r]=er(e[r],t)}else n=e.slice()}else if(e instanceof Qn)n=e.slice();else if(t(e)){n={};for(let r in e)r!=$n&&(n[r]=er(e[r],t))}else n=e;return n}function tr(e){let t=arguments;for(let n=1;n<t.length;n++){let r=t[n];for(let t in r)t!=$n&&(Xn(e[t])?tr(e[t],er(r[t])):e[t]=er(r[t]))}return e}var nr=0,rr=1,ir=2;function ar(e,t,n){for(let r=0,i,a=-1;r<t.length;r++){let o=t[r];if(o>a){for(i=o-1;i>=0&&e[i]==null;)e[i--]=null;for(i=o+1;i<n&&e[i]==null;)e[a=i++]=null}}}function or(e,t){if(lr(e)){let t=e[0].slice();for(let n=1;n<e.length;n++)t.push(...e[n].slice(1));return ur(t[0])||(t=cr(t)),t}let n=new Set;for(let t=0;t<e.length;t++){let r=e[t][0],i=r.length;for(let e=0;e<i;e++)n.add(r[e])}let r=[Array.from(n).sort((e,t)=>e-t)],i=r[0].length,a=new Map;for(let e=0;e<i;e++)a.set(r[0][e],e);for(let n=0;n<e.length;n++){let o=e[n],s=o[0];for(let e=1;e<o.length;e++){let c=o[e],l=Array(i).fill(void 0),u=t?t[n][e]:rr,d=[];for(let e=0;e<c.length;e++){let t=c[e],n=a.get(s[e]);t===null?u!=nr&&(l[n]=t,u==ir&&d.push(n)):l[n]=t}ar(l,d,i),r.push(l)}}return r}var sr=typeof queueMicrotask>`u`?e=>Promise.resolve().then(e):queueMicrotask;function cr(e){let t=e[0],n=t.length,r=Array(n);for(let e=0;e<r.length;e++)r[e]=e;r.sort((e,n)=>t[e]-t[n]);let i=[];for(let t=0;t<e.length;t++){let a=e[t],o=Array(n);for(let e=0;e<n;e++)o[e]=a[r[e]];i.push(o)}return i}function lr(e){let t=e[0][0],n=t.length;for(let r=1;r<e.length;r++){let i=e[r][0];if(i.length!=n)return!1;if(i!=t){for(let e=0;e<n;e++)if(i[e]!=t[e])return!1}}return!0}function ur(e,t=100){let n=e.length;if(n<=1)return!0;let r=0,i=n-1;for(;r<=i&&e[r]==null;)r++;for(;i>=r&&e[i]==null;)i--;if(i<=r)return!0;let a=vn(1,mn((i-r+1)/t));for(let t=e[r],n=r+a;n<=i;n+=a){let r=e[n];if(r!=null){if(r<=t)return!1;t=r}}return!0}var dr=[`January`,`February`,`March`,`April`,`May`,`June`,`July`,`August`,`September`,`October`,`November`,`December`],fr=[`Sunday`,`Monday`,`Tuesday`,`Wednesday`,`Thursday`,`Friday`,`Saturday`];function pr(e){return e.slice(0,3)}var mr=fr.map(pr),hr={MMMM:dr,MMM:dr.map(pr),WWWW:fr,WWW:mr};function gr(e){return(e<10?`0`:``)+e}function _r(e){return(e<10?`00`:e<100?`0`:``)+e}var vr={YYYY:e=>e.getFullYear(),YY:e=>(e.getFullYear()+``).slice(2),MMMM:(e,t)=>t.MMMM[e.getMonth()],MMM:(e,t)=>t.MMM[e.getMonth()],MM:e=>gr(e.getMonth()+1),M:e=>e.getMonth()+1,DD:e=>gr(e.getDate()),D:e=>e.getDate(),WWWW:(e,t)=>t.WWWW[e.getDay()],WWW:(e,t)=>t.WWW[e.getDay()],HH:e=>gr(e.getHours()),H:e=>e.getHours(),h:e=>{let t=e.getHours();return t==0?12:t>12?t-12:t},AA:e=>e.getHours()>=12?`PM`:`AM`,aa:e=>e.getHours()>=12?`pm`:`am`,a:e=>e.getHours()>=12?`p`:`a`,mm:e=>gr(e.getMinutes()),m:e=>e.getMinutes(),ss:e=>gr(e.getSeconds()),s:e=>e.getSeconds(),fff:e=>_r(e.getMilliseconds())};function yr(e,t){t||=hr;let n=[],r=/\{([a-z]+)\}|[^{]+/gi,i;for(;i=r.exec(e);)n.push(i[0][0]==`{`?vr[i[1]]:i[0]);return e=>{let r=``;for(let i=0;i<n.length;i++)r+=typeof n[i]==`string`?n[i]:n[i](e,t);return r}}var br=new Intl.DateTimeFormat().resolvedOptions().timeZone;function xr(e,t){let n;return t==`UTC`||t==`Etc/UTC`?n=new Date(+e+e.getTimezoneOffset()*6e4):t==br?n=e:(n=new Date(e.toLocaleString(`en-US`,{timeZone:t})),n.setMilliseconds(e.getMilliseconds())),n}var Sr=e=>e%1==0,Cr=[1,2,2.5,5],wr=Hn(10,-32,0,Cr),Tr=Hn(10,0,32,Cr),Er=Tr.filter(Sr),Dr=wr.concat(Tr),Or=`
`,kr=`{YYYY}`,Ar=Or+kr,jr=`{M}/{D}`,Mr=Or+jr,Nr=Mr+`/{YY}`,Pr=`{aa}`,Fr=`{h}:{mm}`+Pr,Ir=Or+Fr,Lr=`:{ss}`,X=null;function Z(e){let t=e*1e3,n=t*60,r=n*60,i=r*24,a=i*30,o=i*365,s=(e==1?Hn(10,0,3,Cr).filter(Sr):Hn(10,-3,0,Cr)).concat([t,t*5,t*10,t*15,t*30,n,n*5,n*10,n*15,n*30,r,r*2,r*3,r*4,r*6,r*8,r*12,i,i*2,i*3,i*4,i*5,i*6,i*7,i*8,i*9,i*10,i*15,a,a*2,a*3,a*4,a*6,o,o*2,o*5,o*10,o*25,o*50,o*100]),c=[[o,kr,X,X,X,X,X,X,1],[i*28,`{MMM}`,Ar,X,X,X,X,X,1],[i,jr,Ar,X,X,X,X,X,1],[r,`{h}`+Pr,Nr,X,Mr,X,X,X,1],[n,Fr,Nr,X,Mr,X,X,X,1],[t,Lr,Nr+` `+Fr,X,Mr+` `+Fr,X,Ir,X,1],[e,Lr+`.{fff}`,Nr+` `+Fr,X,Mr+` `+Fr,X,Ir,X,1]];function l(t){return(s,c,l,u,d,f)=>{let p=[],m=d>=o,h=d>=a&&d<o,g=t(l),_=Y(g*e,3),v=qr(g.getFullYear(),m?0:g.getMonth(),h||m?1:g.getDate()),y=Y(v*e,3);if(h||m){let n=h?d/a:0,r=m?d/o:0,i=_==y?_:Y(qr(v.getFullYear()+r,v.getMonth()+n,1)*e,3),s=new Date(hn(i/e)),c=s.getFullYear(),l=s.getMonth();for(let a=0;i<=u;a++){let o=qr(c+r*a,l+n*a,1),s=o-t(Y(o*e,3));i=Y((+o+s)*e,3),i<=u&&p.push(i)}}else{let a=d>=i?i:d,o=y+(mn(l)-mn(_))+Rn(_-y,a);p.push(o);let m=t(o),h=m.getHours()+m.getMinutes()/n+m.getSeconds()/r,g=d/r,v=f/s.axes[c]._space;for(;o=Y(o+d,e==1?0:3),!(o>u);)if(g>1){let e=mn(Y(h+g,6))%24,n=t(o).getHours()-e;n>1&&(n=-1),o-=n*r,h=(h+g)%24;let i=p[p.length-1];Y((o-i)/d,3)*v>=.7&&p.push(o)}else p.push(o)}return p}}return[s,c,l]}var[Rr,zr,Br]=Z(1),[Vr,Hr,Ur]=Z(.001);Hn(2,-53,53,[1]);function Wr(e,t){return e.map(e=>e.map((n,r)=>r==0||r==8||n==null?n:t(r==1||e[8]==0?n:e[1]+n)))}function Gr(e,t){return(n,r,i,a,o)=>{let s=t.find(e=>o>=e[0])||t[t.length-1],c,l,u,d,f,p;return r.map(t=>{let n=e(t),r=n.getFullYear(),i=n.getMonth(),a=n.getDate(),o=n.getHours(),m=n.getMinutes(),h=n.getSeconds(),g=r!=c&&s[2]||i!=l&&s[3]||a!=u&&s[4]||o!=d&&s[5]||m!=f&&s[6]||h!=p&&s[7]||s[1];return c=r,l=i,u=a,d=o,f=m,p=h,g(n)})}}function Kr(e,t){let n=yr(t);return(t,r,i,a,o)=>r.map(t=>n(e(t)))}function qr(e,t,n){return new Date(e,t,n)}function Jr(e,t){return t(e)}var Yr=`{YYYY}-{MM}-{DD} {h}:{mm}{aa}`;function Xr(e,t){return(n,r,i,a)=>a==null?Et:t(e(r))}function Zr(e,t){let n=e.series[t];return n.width?n.stroke(e,t):n.points.width?n.points.stroke(e,t):null}function Qr(e,t){return e.series[t].fill(e,t)}var $r={show:!0,live:!0,isolate:!1,mount:kn,markers:{show:!0,width:2,stroke:Zr,fill:Qr,dash:`solid`},idx:null,idxs:null,values:[]};function ei(e,t){let n=e.cursor.points,r=It(),i=n.size(e,t);G(r,ct,i),G(r,lt,i);let a=i/-2;G(r,`marginLeft`,a),G(r,`marginTop`,a);let o=n.width(e,t,i);return o&&G(r,`borderWidth`,o),r}function Q(e,t){let n=e.series[t].points;return n._fill||n._stroke}function ti(e,t){let n=e.series[t].points;return n._stroke||n._fill}function ni(e,t){return e.series[t].points.size}var ri=[0,0];function ii(e,t,n){return ri[0]=t,ri[1]=n,ri}function ai(e,t,n,r=!0){return e=>{e.button!=0||r&&e.target!=t||n(e)}}function oi(e,t,n,r=!0){return e=>{r&&e.target!=t||n(e)}}var si={show:!0,x:!0,y:!0,lock:!1,move:ii,points:{one:!1,show:ei,size:ni,width:0,stroke:ti,fill:Q},bind:{mousedown:ai,mouseup:ai,click:ai,dblclick:ai,mousemove:oi,mouseleave:oi,mouseenter:oi},drag:{setScale:!0,x:!0,y:!1,dist:0,uni:null,click:(e,t)=>{t.stopPropagation(),t.stopImmediatePropagation()},_x:!1,_y:!1},focus:{dist:(e,t,n,r,i)=>r-i,prox:-1,bias:0},hover:{skip:[void 0],prox:null,bias:0},left:-10,top:-10,idx:null,dataIdx:null,idxs:null,event:null},ci={show:!0,stroke:`rgba(0,0,0,0.07)`,width:2},li=tr({},ci,{filter:jn}),ui=tr({},li,{size:10}),di=tr({},ci,{show:!1}),fi=`12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji"`,pi=`bold `+fi,mi=1.5,hi={show:!0,scale:`x`,stroke:mt,space:50,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:pi,side:2,grid:li,ticks:ui,border:di,font:fi,lineGap:mi,rotate:0},gi=`Value`,_i=`Time`,vi={show:!0,scale:`x`,auto:!1,sorted:1,min:Tn,max:-1/0,idxs:[]};function yi(e,t,n,r,i){return t.map(e=>e==null?``:un(e))}function bi(e,t,n,r,i,a,o){let s=[],c=Bn.get(i)||0;n=o?n:Y(Rn(n,i),c);for(let e=n;e<=r;e=Y(e+i,c))s.push(Object.is(e,-0)?0:e);return s}function xi(e,t,n,r,i,a,o){let s=[],c=e.scales[e.axes[t].scale].log;i=yn(c,mn((c==10?xn:Sn)(n))),c==10&&(i=Dr[qt(i,Dr)]);let l=n,u=i*c;c==10&&(u=Dr[qt(u,Dr)]);do s.push(l),l+=i,c==10&&!Bn.has(l)&&(l=Y(l,Bn.get(i))),l>=u&&(i=l,u=i*c,c==10&&(u=Dr[qt(u,Dr)]));while(l<=r);return s}function Si(e,t,n,r,i,a,o){let s=e.scales[e.axes[t].scale].asinh,c=r>s?xi(e,t,vn(s,n),r,i):[s],l=r>=0&&n<=0?[0]:[];return(n<-s?xi(e,t,vn(s,-r),-n,i):[s]).reverse().map(e=>-e).concat(l,c)}var Ci=/./,wi=/[12357]/,Ti=/[125]/,Ei=/1/,Di=(e,t,n,r)=>e.map((e,i)=>t==4&&e==0||i%r==0&&n.test(e.toExponential()[+(e<0)])?e:null);function Oi(e,t,n,r,i){let a=e.axes[n],o=a.scale,s=e.scales[o],c=e.valToPos,l=a._space,u=c(10,o),d=c(9,o)-u>=l?Ci:c(7,o)-u>=l?wi:c(5,o)-u>=l?Ti:Ei;if(d==Ei){let e=pn(c(1,o)-u);if(e<l)return Di(t.slice().reverse(),s.distr,d,gn(l/e)).reverse()}return Di(t,s.distr,d,1)}function ki(e,t,n,r,i){let a=e.axes[n],o=a.scale,s=a._space,c=e.valToPos,l=pn(c(1,o)-c(2,o));return l<s?Di(t.slice().reverse(),3,Ci,gn(s/l)).reverse():t}function Ai(e,t,n,r){return r==null?Et:t==null?``:un(t)}var ji={show:!0,scale:`y`,stroke:mt,space:30,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:pi,side:3,grid:li,ticks:ui,border:di,font:fi,lineGap:mi,rotate:0};function Mi(e,t){return Y((3+(e||1)*2)*t,3)}function Ni(e,t){let{scale:n,idxs:r}=e.series[0],i=e._data[0],a=e.valToPos(i[r[0]],n,!0),o=pn(e.valToPos(i[r[1]],n,!0)-a)/(e.series[t].points.space*W);return r[1]-r[0]<=o}var Pi={scale:null,auto:!0,sorted:0,min:Tn,max:-1/0},Fi=(e,t,n,r,i)=>i,Ii={show:!0,auto:!0,sorted:0,gaps:Fi,alpha:1,facets:[tr({},Pi,{scale:`x`}),tr({},Pi,{scale:`y`})]},Li={scale:`y`,auto:!0,sorted:0,show:!0,spanGaps:!1,gaps:Fi,alpha:1,points:{show:Ni,filter:null},values:null,min:Tn,max:-1/0,idxs:[],path:null,clip:null};function Ri(e,t,n,r,i){return n/10}var zi={time:Ve,auto:!0,distr:1,log:10,asinh:1,min:null,max:null,dir:1,ori:0},Bi=tr({},zi,{time:!1,ori:1}),Vi={};function Hi(e,t){let n=Vi[e];return n||(n={key:e,plots:[],sub(e){n.plots.push(e)},unsub(e){n.plots=n.plots.filter(t=>t!=e)},pub(e,t,r,i,a,o,s){for(let c=0;c<n.plots.length;c++)n.plots[c]!=t&&n.plots[c].pub(e,t,r,i,a,o,s)}},e!=null&&(Vi[e]=n)),n}var Ui=1,Wi=2;function Gi(e,t,n){let r=e.mode,i=e.series[t],a=r==2?e._data[t]:e._data,o=e.scales,s=e.bbox,c=a[0],l=r==2?a[1]:a[t],u=r==2?o[i.facets[0].scale]:o[e.series[0].scale],d=r==2?o[i.facets[1].scale]:o[i.scale],f=s.left,p=s.top,m=s.width,h=s.height,g=e.valToPosH,_=e.valToPosV;return u.ori==0?n(i,c,l,u,d,g,_,f,p,m,h,ea,na,ia,oa,ca):n(i,c,l,u,d,_,g,p,f,h,m,ta,ra,aa,sa,la)}function Ki(e,t){let n=0,r=0,i=q(e.bands,Wn);for(let e=0;e<i.length;e++){let a=i[e];a.series[0]==t?n=a.dir:a.series[1]==t&&(a.dir==1?r|=1:r|=2)}return[n,r==1?-1:r==2?1:r==3?2:0]}function qi(e,t,n,r,i){let a=e.mode,o=e.series[t],s=a==2?o.facets[1].scale:o.scale,c=e.scales[s];return i==-1?c.min:i==1?c.max:c.distr==3?c.dir==1?c.min:c.max:0}function Ji(e,t,n,r,i,a){return Gi(e,t,(e,t,o,s,c,l,u,d,f,p,m)=>{let h=e.pxRound,g=s.dir*(s.ori==0?1:-1),_=s.ori==0?na:ra,v,y;g==1?(v=n,y=r):(v=r,y=n);let b=h(l(t[v],s,p,d)),x=h(u(o[v],c,m,f)),S=h(l(t[y],s,p,d)),C=h(u(a==1?c.max:c.min,c,m,f)),w=new Path2D(i);return _(w,S,C),_(w,b,C),_(w,b,x),w})}function Yi(e,t,n,r,i,a){let o=null;if(e.length>0){o=new Path2D;let s=t==0?ia:aa,c=n;for(let t=0;t<e.length;t++){let n=e[t];if(n[1]>n[0]){let e=n[0]-c;e>0&&s(o,c,r,e,r+a),c=n[1]}}let l=n+i-c;l>0&&s(o,c,r-5,l,r+a+10)}return o}function Xi(e,t,n){let r=e[e.length-1];r&&r[0]==t?r[1]=n:e.push([t,n])}function Zi(e,t,n,r,i,a,o){let s=[],c=e.length;for(let l=i==1?n:r;l>=n&&l<=r;l+=i)if(t[l]===null){let u=l,d=l;if(i==1)for(;++l<=r&&t[l]===null;)d=l;else for(;--l>=n&&t[l]===null;)d=l;let f=a(e[u]),p=d==u?f:a(e[d]),m=u-i;f=o<=0&&m>=0&&m<c?a(e[m]):f;let h=d+i;p=o>=0&&h>=0&&h<c?a(e[h]):p,p>=f&&s.push([f,p])}return s}function Qi(e){return e==0?An:e==1?hn:t=>Ln(t,e)}function $i(e){let t=e==0?ea:ta,n=e==0?(e,t,n,r,i,a)=>{e.arcTo(t,n,r,i,a)}:(e,t,n,r,i,a)=>{e.arcTo(n,t,i,r,a)},r=e==0?(e,t,n,r,i)=>{e.rect(t,n,r,i)}:(e,t,n,r,i)=>{e.rect(n,t,i,r)};return(e,i,a,o,s,c=0,l=0)=>{c==0&&l==0?r(e,i,a,o,s):(c=_n(c,o/2,s/2),l=_n(l,o/2,s/2),t(e,i+c,a),n(e,i+o,a,i+o,a+s,c),n(e,i+o,a+s,i,a+s,l),n(e,i,a+s,i,a,l),n(e,i,a,i+o,a,c),e.closePath())}}var ea=(e,t,n)=>{e.moveTo(t,n)},ta=(e,t,n)=>{e.moveTo(n,t)},na=(e,t,n)=>{e.lineTo(t,n)},ra=(e,t,n)=>{e.lineTo(n,t)},ia=$i(0),aa=$i(1),oa=(e,t,n,r,i,a)=>{e.arc(t,n,r,i,a)},sa=(e,t,n,r,i,a)=>{e.arc(n,t,r,i,a)},ca=(e,t,n,r,i,a,o)=>{e.bezierCurveTo(t,n,r,i,a,o)},la=(e,t,n,r,i,a,o)=>{e.bezierCurveTo(n,t,i,r,o,a)};function ua(e){return(e,t,n,r,i)=>Gi(e,t,(t,a,o,s,c,l,u,d,f,p,m)=>{let{pxRound:h,points:g}=t,_,v;s.ori==0?(_=ea,v=oa):(_=ta,v=sa);let y=Y(g.width*W,3),b=(g.size-g.width)/2*W,x=Y(b*2,3),S=new Path2D,C=new Path2D,{left:w,top:T,width:E,height:D}=e.bbox;ia(C,w-x,T-x,E+x*2,D+x*2);let O=e=>{if(o[e]!=null){let t=h(l(a[e],s,p,d)),n=h(u(o[e],c,m,f));_(S,t+b,n),v(S,t,n,b,0,fn*2)}};if(i)i.forEach(O);else for(let e=n;e<=r;e++)O(e);return{stroke:y>0?S:null,fill:S,clip:C,flags:3}})}function da(e){return(t,n,r,i,a,o)=>{r!=i&&(a!=r&&o!=r&&e(t,n,r),a!=i&&o!=i&&e(t,n,i),e(t,n,o))}}var fa=da(na),pa=da(ra);function ma(e){let t=q(e?.alignGaps,0);return(e,n,r,i)=>Gi(e,n,(a,o,s,c,l,u,d,f,p,m,h)=>{[r,i]=K(s,r,i);let g=a.pxRound,_=e=>g(u(e,c,m,f)),v=e=>g(d(e,l,h,p)),y,b;c.ori==0?(y=na,b=fa):(y=ra,b=pa);let x=c.dir*(c.ori==0?1:-1),S={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Ui},C=S.stroke,w=!1;if(i-r>=m*4){let t=t=>e.posToVal(t,c.key,!0),n=null,a=null,l,u,d,f=_(o[x==1?r:i]),p=_(o[r]),m=_(o[i]),h=t(x==1?p+1:m-1);for(let e=x==1?r:i;e>=r&&e<=i;e+=x){let r=o[e],i=(x==1?r<h:r>h)?f:_(r),c=s[e];i==f?c==null?c===null&&(w=!0):(u=c,n==null?(y(C,i,v(u)),l=n=a=u):u<n?n=u:u>a&&(a=u)):(n!=null&&b(C,f,v(n),v(a),v(l),v(u)),c==null?(n=a=null,c===null&&(w=!0)):(u=c,y(C,i,v(u)),n=a=l=u),f=i,h=t(f+x))}n!=null&&n!=a&&d!=f&&b(C,f,v(n),v(a),v(l),v(u))}else for(let e=x==1?r:i;e>=r&&e<=i;e+=x){let t=s[e];t===null?w=!0:t!=null&&y(C,_(o[e]),v(t))}let[T,E]=Ki(e,n);if(a.fill!=null||T!=0){let t=S.fill=new Path2D(C),s=v(a.fillTo(e,n,a.min,a.max,T)),c=_(o[r]),l=_(o[i]);x==-1&&([l,c]=[c,l]),y(t,l,s),y(t,c,s)}if(!a.spanGaps){let l=[];w&&l.push(...Zi(o,s,r,i,x,_,t)),S.gaps=l=a.gaps(e,n,r,i,l),S.clip=Yi(l,c.ori,f,p,m,h)}return E!=0&&(S.band=E==2?[Ji(e,n,r,i,C,-1),Ji(e,n,r,i,C,1)]:Ji(e,n,r,i,C,E)),S})}function ha(e){let t=q(e.align,1),n=q(e.ascDesc,!1),r=q(e.alignGaps,0),i=q(e.extend,!1);return(e,a,o,s)=>Gi(e,a,(c,l,u,d,f,p,m,h,g,_,v)=>{[o,s]=K(u,o,s);let y=c.pxRound,{left:b,width:x}=e.bbox,S=e=>y(p(e,d,_,h)),C=e=>y(m(e,f,v,g)),w=d.ori==0?na:ra,T={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Ui},E=T.stroke,D=d.dir*(d.ori==0?1:-1),O=C(u[D==1?o:s]),k=S(l[D==1?o:s]),A=k,j=k;i&&t==-1&&(j=b,w(E,j,O)),w(E,k,O);for(let e=D==1?o:s;e>=o&&e<=s;e+=D){let n=u[e];if(n==null)continue;let r=S(l[e]),i=C(n);t==1?w(E,r,O):w(E,A,i),w(E,r,i),O=i,A=r}let M=A;i&&t==1&&(M=b+x,w(E,M,O));let[ee,te]=Ki(e,a);if(c.fill!=null||ee!=0){let t=T.fill=new Path2D(E),n=C(c.fillTo(e,a,c.min,c.max,ee));w(t,M,n),w(t,j,n)}if(!c.spanGaps){let i=[];i.push(...Zi(l,u,o,s,D,S,r));let f=c.width*W/2,p=n||t==1?f:-f,m=n||t==-1?-f:f;i.forEach(e=>{e[0]+=p,e[1]+=m}),T.gaps=i=c.gaps(e,a,o,s,i),T.clip=Yi(i,d.ori,h,g,_,v)}return te!=0&&(T.band=te==2?[Ji(e,a,o,s,E,-1),Ji(e,a,o,s,E,1)]:Ji(e,a,o,s,E,te)),T})}function ga(e,t,n,r,i,a,o=Tn){if(e.length>1){let s=null;for(let c=0,l=1/0;c<e.length;c++)if(t[c]!==void 0){if(s!=null){let t=pn(e[c]-e[s]);t<l&&(l=t,o=pn(n(e[c],r,i,a)-n(e[s],r,i,a)))}s=c}}return o}function _a(e){e||=Un;let t=q(e.size,[.6,Tn,1]),n=e.align||0,r=e.gap||0,i=e.radius;i=i==null?[0,0]:typeof i==`number`?[i,0]:i;let a=J(i),o=1-t[0],s=q(t[1],Tn),c=q(t[2],1),l=q(e.disp,Un),u=q(e.each,e=>{}),{fill:d,stroke:f}=l;return(e,t,i,p)=>Gi(e,t,(m,h,g,_,v,y,b,x,S,C,w)=>{let T=m.pxRound,E=n,D=r*W,O=s*W,k=c*W,A,j;_.ori==0?[A,j]=a(e,t):[j,A]=a(e,t);let M=_.dir*(_.ori==0?1:-1),ee=_.ori==0?ia:aa,te=_.ori==0?u:(e,t,n,r,i,a,o)=>{u(e,t,n,i,r,o,a)},ne=q(e.bands,Wn).find(e=>e.series[0]==t),re=ne==null?0:ne.dir,ie=m.fillTo(e,t,m.min,m.max,re),N=T(b(ie,v,w,S)),P,F,I,L=C,R=T(m.width*W),ae=!1,oe=null,se=null,ce=null,le=null;d!=null&&(R==0||f!=null)&&(ae=!0,oe=d.values(e,t,i,p),se=new Map,new Set(oe).forEach(e=>{e!=null&&se.set(e,new Path2D)}),R>0&&(ce=f.values(e,t,i,p),le=new Map,new Set(ce).forEach(e=>{e!=null&&le.set(e,new Path2D)})));let{x0:ue,size:z}=l;if(ue!=null&&z!=null){E=1,h=ue.values(e,t,i,p),ue.unit==2&&(h=h.map(t=>e.posToVal(x+t*C,_.key,!0)));let n=z.values(e,t,i,p);F=z.unit==2?n[0]*C:y(n[0],_,C,x)-y(0,_,C,x),L=ga(h,g,y,_,C,x,L),I=L-F+D}else L=ga(h,g,y,_,C,x,L),I=L*o+D,F=L-I;I<1&&(I=0),R>=F/2&&(R=0),I<5&&(T=An);let de=I>0,fe=L-I-(de?R:0);F=T(Dn(fe,k,O)),P=(E==0?F/2:E==M?0:F)-E*M*((E==0?D/2:0)+(de?R/2:0));let pe={stroke:null,fill:null,clip:null,band:null,gaps:null,flags:0},me=ae?null:new Path2D,he=null;if(ne!=null)he=e.data[ne.series[1]];else{let{y0:n,y1:r}=l;n!=null&&r!=null&&(g=r.values(e,t,i,p),he=n.values(e,t,i,p))}let ge=A*F,_e=j*F;for(let n=M==1?i:p;n>=i&&n<=p;n+=M){let r=g[n];if(r==null)continue;if(he!=null){let e=he[n]??0;if(r-e==0)continue;N=b(e,v,w,S)}let i=y(_.distr!=2||l!=null?h[n]:n,_,C,x),a=b(q(r,ie),v,w,S),o=T(i-P),s=T(vn(a,N)),c=T(_n(a,N)),u=s-c;if(r!=null){let i=r<0?_e:ge,a=r<0?ge:_e;ae?(R>0&&ce[n]!=null&&ee(le.get(ce[n]),o,c+mn(R/2),F,vn(0,u-R),i,a),oe[n]!=null&&ee(se.get(oe[n]),o,c+mn(R/2),F,vn(0,u-R),i,a)):ee(me,o,c+mn(R/2),F,vn(0,u-R),i,a),te(e,t,n,o-R/2,c,F+R,u)}}return R>0?pe.stroke=ae?le:me:ae||(pe._fill=m.width==0?m._fill:m._stroke??m._fill,pe.width=0),pe.fill=ae?se:me,pe})}function va(e,t){let n=q(t?.alignGaps,0);return(t,r,i,a)=>Gi(t,r,(o,s,c,l,u,d,f,p,m,h,g)=>{[i,a]=K(c,i,a);let _=o.pxRound,v=e=>_(d(e,l,h,p)),y=e=>_(f(e,u,g,m)),b,x,S;l.ori==0?(b=ea,S=na,x=ca):(b=ta,S=ra,x=la);let C=l.dir*(l.ori==0?1:-1),w=v(s[C==1?i:a]),T=w,E=[],D=[];for(let e=C==1?i:a;e>=i&&e<=a;e+=C)if(c[e]!=null){let t=s[e],n=v(t);E.push(T=n),D.push(y(c[e]))}let O={stroke:e(E,D,b,S,x,_),fill:null,clip:null,band:null,gaps:null,flags:Ui},k=O.stroke,[A,j]=Ki(t,r);if(o.fill!=null||A!=0){let e=O.fill=new Path2D(k),n=y(o.fillTo(t,r,o.min,o.max,A));S(e,T,n),S(e,w,n)}if(!o.spanGaps){let e=[];e.push(...Zi(s,c,i,a,C,v,n)),O.gaps=e=o.gaps(t,r,i,a,e),O.clip=Yi(e,l.ori,p,m,h,g)}return j!=0&&(O.band=j==2?[Ji(t,r,i,a,k,-1),Ji(t,r,i,a,k,1)]:Ji(t,r,i,a,k,j)),O})}function ya(e){return va(ba,e)}function ba(e,t,n,r,i,a){let o=e.length;if(o<2)return null;let s=new Path2D;if(n(s,e[0],t[0]),o==2)r(s,e[1],t[1]);else{let n=Array(o),r=Array(o-1),a=Array(o-1),c=Array(o-1);for(let n=0;n<o-1;n++)a[n]=t[n+1]-t[n],c[n]=e[n+1]-e[n],r[n]=a[n]/c[n];n[0]=r[0];for(let e=1;e<o-1;e++)r[e]===0||r[e-1]===0||r[e-1]>0!=r[e]>0?n[e]=0:(n[e]=3*(c[e-1]+c[e])/((2*c[e]+c[e-1])/r[e-1]+(c[e]+2*c[e-1])/r[e]),isFinite(n[e])||(n[e]=0));n[o-1]=r[o-2];for(let r=0;r<o-1;r++)i(s,e[r]+c[r]/3,t[r]+n[r]*c[r]/3,e[r+1]-c[r]/3,t[r+1]-n[r+1]*c[r]/3,e[r+1],t[r+1])}return s}var xa=new Set;function Sa(){for(let e of xa)e.syncRect(!0)}Dt&&(Gt(St,kt,Sa),Gt(Ct,kt,Sa,!0),Gt(Tt,kt,()=>{Ra.pxRatio=W}));var Ca=ma(),wa=ua();function Ta(e,t,n,r){return(r?[e[0],e[1]].concat(e.slice(2)):[e[0]].concat(e.slice(1))).map((e,r)=>Da(e,r,t,n))}function Ea(e,t){return e.map((e,n)=>n==0?{}:tr({},t,e))}function Da(e,t,n,r){return tr({},t==0?n:r,e)}function Oa(e,t,n){return t==null?Gn:[t,n]}var ka=Oa;function Aa(e,t,n){return t==null?Gn:on(t,n,tn,!0)}function ja(e,t,n,r){return t==null?Gn:$t(t,n,e.scales[r].log,!1)}var Ma=ja;function Na(e,t,n,r){return t==null?Gn:en(t,n,e.scales[r].log,!1)}var Pa=Na;function Fa(e,t,n,r,i){let a=vn(En(e),En(t)),o=t-e,s=qt(i/r*o,n);do{let e=n[s],t=r*e/o;if(t>=i&&a+(e<5?Bn.get(e):0)<=17)return[e,t]}while(++s<n.length);return[0,0]}function Ia(e){let t,n;return e=e.replace(/(\d+)px/,(e,r)=>(t=hn((n=+r)*W))+`px`),[e,t,n]}function La(e){e.show&&[e.font,e.labelFont].forEach(e=>{let t=Y(e[2]*W,1);e[0]=e[0].replace(/[0-9.]+px/,t+`px`),e[1]=t})}function Ra(e,t,n){let r={mode:q(e.mode,1)},i=r.mode;function a(e,t,n,r){let i=t.valToPct(e);return r+n*(t.dir==-1?1-i:i)}function o(e,t,n,r){let i=t.valToPct(e);return r+n*(t.dir==-1?i:1-i)}function s(e,t,n,r){return t.ori==0?a(e,t,n,r):o(e,t,n,r)}r.valToPosH=a,r.valToPosV=o;let c=!1;r.status=0;let l=r.root=It(He);if(e.id!=null&&(l.id=e.id),Nt(l,e.class),e.title){let t=It(Ge,l);t.textContent=e.title}let u=Ft(`canvas`),d=r.ctx=u.getContext(`2d`),f=It(Ke,l);Gt(`click`,f,e=>{e.target===m&&(X!=Pr||Z!=Fr)&&Zr.click(r,e)},!0);let p=r.under=It(qe,f);f.appendChild(u);let m=r.over=It(Je,f);e=er(e);let h=+q(e.pxAlign,1),g=Qi(h);(e.plugins||[]).forEach(t=>{t.opts&&(e=t.opts(r,e)||e)});let _=e.ms||.001,v=r.series=i==1?Ta(e.series||[],vi,Li,!1):Ea(e.series||[null],Ii),y=r.axes=Ta(e.axes||[],hi,ji,!0),b=r.scales={},x=r.bands=e.bands||[];x.forEach(e=>{e.fill=J(e.fill||null),e.dir=q(e.dir,-1)});let S=i==2?v[1].facets[0].scale:v[0].scale,C={axes:hr,series:rr},w=(e.drawOrder||[`axes`,`series`]).map(e=>C[e]);function T(e){let t=e.distr==3?t=>xn(t>0?t:e.clamp(r,t,e.min,e.max,e.key)):e.distr==4?t=>wn(t,e.asinh):e.distr==100?t=>e.fwd(t):e=>e;return n=>{let r=t(n),{_min:i,_max:a}=e,o=a-i;return(r-i)/o}}function E(t){let n=b[t];if(n==null){let r=(e.scales||Un)[t]||Un;if(r.from!=null){E(r.from);let e=tr({},b[r.from],r,{key:t});e.valToPct=T(e),b[t]=e}else{n=b[t]=tr({},t==S?zi:Bi,r),n.key=t;let e=n.time,a=n.range,o=Kn(a);if((t!=S||i==2&&!e)&&(o&&(a[0]==null||a[1]==null)&&(a={min:a[0]==null?nn:{mode:1,hard:a[0],soft:a[0]},max:a[1]==null?nn:{mode:1,hard:a[1],soft:a[1]}},o=!1),!o&&Xn(a))){let e=a;a=(t,n,r)=>n==null?Gn:on(n,r,e)}n.range=J(a||(e?ka:t==S?n.distr==3?Ma:n.distr==4?Pa:Oa:n.distr==3?ja:n.distr==4?Na:Aa)),n.auto=J(!o&&n.auto),n.clamp=J(n.clamp||Ri),n._min=n._max=null,n.valToPct=T(n)}}}E(`x`),E(`y`),i==1&&v.forEach(e=>{E(e.scale)}),y.forEach(e=>{E(e.scale)});for(let t in e.scales)E(t);let D=b[S],O=D.distr,k,A;D.ori==0?(Nt(l,Ue),k=a,A=o):(Nt(l,We),k=o,A=a);let j={};for(let e in b){let t=b[e];(t.min!=null||t.max!=null)&&(j[e]={min:t.min,max:t.max},t.min=t.max=null)}let M=e.tzDate||(e=>new Date(hn(e/_))),ee=e.fmtDate||yr,te=_==1?Br(M):Ur(M),ne=Gr(M,Wr(_==1?zr:Hr,ee)),re=Xr(M,Jr(Yr,ee)),ie=[],N=r.legend=tr({},$r,e.legend),P=r.cursor=tr({},si,{drag:{y:i==2}},e.cursor),F=N.show,I=P.show,L=N.markers;N.idxs=ie,L.width=J(L.width),L.dash=J(L.dash),L.stroke=J(L.stroke),L.fill=J(L.fill);let R,ae,oe,se=[],ce=[],le,ue=!1,z={};if(N.live){let e=v[1]?v[1].values:null;ue=e!=null,le=ue?e(r,1,0):{_:0};for(let e in le)z[e]=Et}if(F){if(R=Ft(`table`,tt,l),oe=Ft(`tbody`,null,R),N.mount(r,R),ue){ae=Ft(`thead`,null,R,oe);let e=Ft(`tr`,null,ae);for(var de in Ft(`th`,null,e),le)Ft(`th`,ot,e).textContent=de}else Nt(R,rt),N.live&&Nt(R,nt)}let fe={show:!0},pe={show:!1};function me(e,t){if(t==0&&(ue||!N.live||i==2))return Gn;let n=[],a=Ft(`tr`,it,oe,oe.childNodes[t]);Nt(a,e.class),e.show||Nt(a,Xe);let o=Ft(`th`,null,a);if(L.show){let e=It(at,o);if(t>0){let n=L.width(r,t);n&&(e.style.border=n+`px `+L.dash(r,t)+` `+L.stroke(r,t)),e.style.background=L.fill(r,t)}}let s=It(ot,o);for(var c in e.label instanceof HTMLElement?s.appendChild(e.label):s.textContent=e.label,t>0&&(L.show||(s.style.color=e.width>0?L.stroke(r,t):L.fill(r,t)),ge(`click`,o,t=>{if(P._lock)return;Be(t);let n=v.indexOf(e);if((t.ctrlKey||t.metaKey)!=N.isolate){let e=v.some((e,t)=>t>0&&t!=n&&e.show);v.forEach((t,r)=>{r>0&&ai(r,e?r==n?fe:pe:fe,!0,ma.setSeries)})}else ai(n,{show:!e.show},!0,ma.setSeries)},!1),St&&ge(yt,o,t=>{P._lock||(Be(t),ai(v.indexOf(e),mi,!0,ma.setSeries))},!1)),le){let e=Ft(`td`,st,a);e.textContent=`--`,n.push(e)}return[a,n]}let he=new Map;function ge(e,t,n,i=!0){let a=he.get(t)||{},o=P.bind[e](r,t,n,i);o&&(Gt(e,t,a[e]=o),he.set(t,a))}function _e(e,t,n){let r=he.get(t)||{};for(let n in r)(e==null||n==e)&&(Kt(n,t,r[n]),delete r[n]);e??he.delete(t)}let B=0,ve=0,V=0,H=0,ye=0,be=0,xe=ye,Se=be,Ce=V,we=H,Te=0,Ee=0,De=0,Oe=0;r.bbox={};let ke=!1,Ae=!1,je=!1,Me=!1,Ne=!1,Pe=!1;function Fe(e,t,n){(n||e!=r.width||t!=r.height)&&Ie(e,t),gr(!1),je=!0,Ae=!0,Sr()}function Ie(e,t){r.width=B=V=e,r.height=ve=H=t,ye=be=0,Re(),ze();let n=r.bbox;Te=n.left=Ln(ye*W,.5),Ee=n.top=Ln(be*W,.5),De=n.width=Ln(V*W,.5),Oe=n.height=Ln(H*W,.5)}function Le(){let e=!1,t=0;for(;!e;){t++;let n=pr(t),i=mr(t);e=t==3||n&&i,e||(Ie(r.width,r.height),Ae=!0)}}function U({width:e,height:t}){Fe(e,t)}r.setSize=U;function Re(){let e=!1,t=!1,n=!1,r=!1;y.forEach((i,a)=>{if(i.show&&i._show){let{side:a,_size:o}=i,s=a%2,c=o+(i.label==null?0:i.labelSize);c>0&&(s?(V-=c,a==3?(ye+=c,r=!0):n=!0):(H-=c,a==0?(be+=c,e=!0):t=!0))}}),Vt[0]=e,Vt[1]=n,Vt[2]=t,Vt[3]=r,V-=Yt[1]+Yt[3],ye+=Yt[3],H-=Yt[2]+Yt[0],be+=Yt[0]}function ze(){let e=ye+V,t=be+H,n=ye,r=be;function i(i,a){switch(i){case 1:return e+=a,e-a;case 2:return t+=a,t-a;case 3:return n-=a,n+a;case 0:return r-=a,r+a}}y.forEach((e,t)=>{if(e.show&&e._show){let t=e.side;e._pos=i(t,e._size),e.label!=null&&(e._lpos=i(t,e.labelSize))}})}if(P.dataIdx==null){let e=P.hover,n=e.skip=new Set(e.skip??[]);n.add(void 0);let r=e.prox=J(e.prox),i=e.bias??=0;P.dataIdx=(e,a,o,s)=>{if(a==0)return o;let c=o,l=r(e,a,o,s)??Tn,u=l>=0&&l<Tn,d=D.ori==0?V:H,f=P.left,p=t[0],m=t[a];if(n.has(m[o])){c=null;let e=null,t=null,r;if(i==0||i==-1)for(r=o;e==null&&r-->0;)n.has(m[r])||(e=r);if(i==0||i==1)for(r=o;t==null&&r++<m.length;)n.has(m[r])||(t=r);if(e!=null||t!=null){if(u){let n=e==null?-1/0:k(p[e],D,d,0),r=t==null?1/0:k(p[t],D,d,0),i=f-n,a=r-f;i<=a?i<=l&&(c=e):a<=l&&(c=t)}else c=t==null?e:e==null?t:o-e<=t-o?e:t}}else u&&pn(f-k(p[o],D,d,0))>l&&(c=null);return c}}let Be=e=>{P.event=e};P.idxs=ie,P._lock=!1;let Ve=P.points;Ve.show=J(Ve.show),Ve.size=J(Ve.size),Ve.stroke=J(Ve.stroke),Ve.width=J(Ve.width),Ve.fill=J(Ve.fill);let mt=r.focus=tr({},e.focus||{alpha:.3},P.focus),St=mt.prox>=0,Ct=St&&Ve.one,wt=[],Dt=[],At=[];function jt(e,t){let n=Ve.show(r,t);if(n instanceof HTMLElement)return Nt(n,et),Nt(n,e.class),Rt(n,-10,-10,V,H),m.insertBefore(n,wt[t]),n}function Mt(e,t){if(i==1||t>0){let t=i==1&&b[e.scale].time,n=e.value;e.value=t?Yn(n)?Xr(M,Jr(n,ee)):n||re:n||Ai,e.label=e.label||(t?_i:gi)}if(Ct||t>0){e.width=e.width==null?1:e.width,e.paths=e.paths||Ca||Mn,e.fillTo=J(e.fillTo||qi),e.pxAlign=+q(e.pxAlign,h),e.pxRound=Qi(e.pxAlign),e.stroke=J(e.stroke||null),e.fill=J(e.fill||null),e._stroke=e._fill=e._paths=e._focus=null;let t=Mi(vn(1,e.width),1),n=e.points=tr({},{size:t,width:vn(1,t*.2),stroke:e.stroke,space:t*2,paths:wa,_stroke:null,_fill:null},e.points);n.show=J(n.show),n.filter=J(n.filter),n.fill=J(n.fill),n.stroke=J(n.stroke),n.paths=J(n.paths),n.pxAlign=e.pxAlign}if(F){let n=me(e,t);se.splice(t,0,n[0]),ce.splice(t,0,n[1]),N.values.push(null)}if(I){ie.splice(t,0,null);let n=null;Ct?t==0&&(n=jt(e,t)):t>0&&(n=jt(e,t)),wt.splice(t,0,n),Dt.splice(t,0,0),At.splice(t,0,0)}fa(`addSeries`,t)}function Lt(e,t){t??=v.length,e=i==1?Da(e,t,vi,Li):Da(e,t,{},Ii),v.splice(t,0,e),Mt(v[t],t)}r.addSeries=Lt;function zt(e){if(v.splice(e,1),F){N.values.splice(e,1),ce.splice(e,1);let t=se.splice(e,1)[0];_e(null,t.firstChild),t.remove()}I&&(ie.splice(e,1),wt.splice(e,1)[0].remove(),Dt.splice(e,1),At.splice(e,1)),fa(`delSeries`,e)}r.delSeries=zt;let Vt=[!1,!1,!1,!1];function Ut(e,t){if(e._show=e.show,e.show){let n=e.side%2,i=b[e.scale];i??=(e.scale=n?v[1].scale:S,b[e.scale]);let a=i.time;e.size=J(e.size),e.space=J(e.space),e.rotate=J(e.rotate),Kn(e.incrs)&&e.incrs.forEach(e=>{!Bn.has(e)&&Bn.set(e,Vn(e))}),e.incrs=J(e.incrs||(i.distr==2?Er:a?_==1?Rr:Vr:Dr)),e.splits=J(e.splits||(a&&i.distr==1?te:i.distr==3?xi:i.distr==4?Si:bi)),e.stroke=J(e.stroke),e.grid.stroke=J(e.grid.stroke),e.ticks.stroke=J(e.ticks.stroke),e.border.stroke=J(e.border.stroke);let o=e.values;e.values=Kn(o)&&!Kn(o[0])?J(o):a?Kn(o)?Gr(M,Wr(o,ee)):Yn(o)?Kr(M,o):o||ne:o||yi,e.filter=J(e.filter||(i.distr>=3&&i.log==10?Oi:i.distr==3&&i.log==2?ki:jn)),e.font=Ia(e.font),e.labelFont=Ia(e.labelFont),e._size=e.size(r,null,t,0),e._space=e._rotate=e._incrs=e._found=e._splits=e._values=null,e._size>0&&(Vt[t]=!0,e._el=It(Ye,f))}}function Wt(e,t,n,r){let[i,a,o,s]=n,c=t%2,l=0;return c==0&&(s||a)&&(l=t==0&&!i||t==2&&!o?hn(hi.size/3):0),c==1&&(i||o)&&(l=t==1&&!a||t==3&&!s?hn(ji.size/2):0),l}let Jt=r.padding=(e.padding||[Wt,Wt,Wt,Wt]).map(e=>J(q(e,Wt))),Yt=r._padding=Jt.map((e,t)=>e(r,t,Vt,0)),Xt,K=null,Zt=null,rn=i==1?v[0].idxs:null,an=null,cn=!1;function ln(e,n){if(t=e??[],r.data=r._data=t,i==2){Xt=0;for(let e=1;e<v.length;e++)Xt+=t[e][0].length}else{t.length==0&&(r.data=r._data=t=[[]]),an=t[0],Xt=an.length;let e=t;if(O==2){e=t.slice();let n=e[0]=Array(Xt);for(let e=0;e<Xt;e++)n[e]=e}r._data=t=e}if(gr(!0),fa(`setData`),O==2&&(je=!0),n!==!1){let e=D;e.auto(r,cn)?un():ii(S,e.min,e.max),Me||=P.left>=0,Pe=!0,Sr()}}r.setData=ln;function un(){cn=!0;let e,n;i==1&&(Xt>0?(K=rn[0]=0,Zt=rn[1]=Xt-1,e=t[0][K],n=t[0][Zt],O==2?(e=K,n=Zt):e==n&&(O==3?[e,n]=$t(e,e,D.log,!1):O==4?[e,n]=en(e,e,D.log,!1):D.time?n=e+hn(86400/_):[e,n]=on(e,n,tn,!0))):(K=rn[0]=e=null,Zt=rn[1]=n=null)),ii(S,e,n)}let dn,mn,bn,Sn,En,kn,An,Fn,In,Rn;function zn(e,t,n,r,i,a){e??=ht,n??=Wn,r??=`butt`,i??=ht,a??=`round`,e!=dn&&(d.strokeStyle=dn=e),i!=mn&&(d.fillStyle=mn=i),t!=bn&&(d.lineWidth=bn=t),a!=En&&(d.lineJoin=En=a),r!=kn&&(d.lineCap=kn=r),n!=Sn&&d.setLineDash(Sn=n)}function Hn(e,t,n,r){t!=mn&&(d.fillStyle=mn=t),e!=An&&(d.font=An=e),n!=Fn&&(d.textAlign=Fn=n),r!=In&&(d.textBaseline=In=r)}function qn(e,t,n,i,a=0){if(i.length>0&&e.auto(r,cn)&&(t==null||t.min==null)){let t=q(K,0),r=q(Zt,i.length-1),o=n.min==null?Qt(i,t,r,a,e.distr==3):[n.min,n.max];e.min=_n(e.min,n.min=o[0]),e.max=vn(e.max,n.max=o[1])}}let Qn={min:null,max:null};function $n(){for(let e in b){let t=b[e];j[e]==null&&(t.min==null||j[S]!=null&&t.auto(r,cn))&&(j[e]=Qn)}for(let e in b){let t=b[e];j[e]==null&&t.from!=null&&j[t.from]!=null&&(j[e]=Qn)}j[S]!=null&&gr(!0);let e={};for(let t in j){let n=j[t];if(n!=null){let a=e[t]=er(b[t],Zn);if(n.min!=null)tr(a,n);else if(t!=S||i==2){if(Xt==0&&a.from==null){let e=a.range(r,null,null,t);a.min=e[0],a.max=e[1]}else a.min=Tn,a.max=-1/0}}}if(Xt>0){v.forEach((n,a)=>{if(i==1){let i=n.scale,o=j[i];if(o==null)return;let s=e[i];if(a==0){let e=s.range(r,s.min,s.max,i);s.min=e[0],s.max=e[1],K=qt(s.min,t[0]),Zt=qt(s.max,t[0]),Zt-K>1&&(t[0][K]<s.min&&K++,t[0][Zt]>s.max&&Zt--),n.min=an[K],n.max=an[Zt]}else n.show&&n.auto&&qn(s,o,n,t[a],n.sorted);n.idxs[0]=K,n.idxs[1]=Zt}else if(a>0&&n.show&&n.auto){let[r,i]=n.facets,o=r.scale,s=i.scale,[c,l]=t[a],u=e[o],d=e[s];u!=null&&qn(u,j[o],r,c,r.sorted),d!=null&&qn(d,j[s],i,l,i.sorted),n.min=i.min,n.max=i.max}});for(let t in e){let n=e[t],i=j[t];if(n.from==null&&(i==null||i.min==null)){let e=n.range(r,n.min==Tn?null:n.min,n.max==-1/0?null:n.max,t);n.min=e[0],n.max=e[1]}}}for(let t in e){let n=e[t];if(n.from!=null){let i=e[n.from];if(i.min==null)n.min=n.max=null;else{let e=n.range(r,i.min,i.max,t);n.min=e[0],n.max=e[1]}}}let n={},a=!1;for(let t in e){let r=e[t],i=b[t];if(i.min!=r.min||i.max!=r.max){i.min=r.min,i.max=r.max;let e=i.distr;i._min=e==3?xn(i.min):e==4?wn(i.min,i.asinh):e==100?i.fwd(i.min):i.min,i._max=e==3?xn(i.max):e==4?wn(i.max,i.asinh):e==100?i.fwd(i.max):i.max,n[t]=a=!0}}if(a){v.forEach((e,t)=>{i==2?t>0&&n.y&&(e._paths=null):n[e.scale]&&(e._paths=null)});for(let e in n)je=!0,fa(`setScale`,e);I&&P.left>=0&&(Me=Pe=!0)}for(let e in j)j[e]=null}function nr(e){let t=Dn(K-1,0,Xt-1),n=Dn(Zt+1,0,Xt-1);for(;e[t]==null&&t>0;)t--;for(;e[n]==null&&n<Xt-1;)n++;return[t,n]}function rr(){if(Xt>0){let e=v.some(e=>e._focus)&&Rn!=mt.alpha;e&&(d.globalAlpha=Rn=mt.alpha),v.forEach((e,n)=>{if(n>0&&e.show&&(ir(n,!1),ir(n,!0),e._paths==null)){let a=Rn;Rn!=e.alpha&&(d.globalAlpha=Rn=e.alpha);let o=i==2?[0,t[n][0].length-1]:nr(t[n]);e._paths=e.paths(r,n,o[0],o[1]),Rn!=a&&(d.globalAlpha=Rn=a)}}),v.forEach((e,t)=>{if(t>0&&e.show){let n=Rn;Rn!=e.alpha&&(d.globalAlpha=Rn=e.alpha),e._paths!=null&&ar(t,!1);{let n=e._paths==null?null:e._paths.gaps,i=e.points.show(r,t,K,Zt,n),a=e.points.filter(r,t,i,n);(i||a)&&(e.points._paths=e.points.paths(r,t,K,Zt,a),ar(t,!0))}Rn!=n&&(d.globalAlpha=Rn=n),fa(`drawSeries`,t)}}),e&&(d.globalAlpha=Rn=1)}}function ir(e,t){let n=t?v[e].points:v[e];n._stroke=n.stroke(r,e),n._fill=n.fill(r,e)}function ar(e,t){let n=t?v[e].points:v[e],{stroke:r,fill:i,clip:a,flags:o,_stroke:s=n._stroke,_fill:c=n._fill,_width:l=n.width}=n._paths;l=Y(l*W,3);let u=null,f=l%2/2;t&&c==null&&(c=l>0?`#fff`:s);let p=n.pxAlign==1&&f>0;if(p&&d.translate(f,f),!t){let e=Te-l/2,t=Ee-l/2,n=De+l,r=Oe+l;u=new Path2D,u.rect(e,t,n,r)}t?cr(s,l,n.dash,n.cap,c,r,i,o,a):or(e,s,l,n.dash,n.cap,c,r,i,o,u,a),p&&d.translate(-f,-f)}function or(e,n,i,a,o,s,c,l,u,d,f){let p=!1;u!=0&&x.forEach((m,h)=>{if(m.series[0]==e){let e=v[m.series[1]],g=t[m.series[1]],_=(e._paths||Un).band;Kn(_)&&(_=m.dir==1?_[0]:_[1]);let y,b=null;e.show&&_&&sn(g,K,Zt)?(b=m.fill(r,h)||s,y=e._paths.clip):_=null,cr(n,i,a,o,b,c,l,u,d,f,y,_),p=!0}}),p||cr(n,i,a,o,s,c,l,u,d,f)}function cr(e,t,n,r,i,a,o,s,c,l,u,f){zn(e,t,n,r,i),(c||l||f)&&(d.save(),c&&d.clip(c),l&&d.clip(l)),f?(s&3)==3?(d.clip(f),u&&d.clip(u),ur(i,o),lr(e,a,t)):s&Wi?(ur(i,o),d.clip(f),lr(e,a,t)):s&Ui&&(d.save(),d.clip(f),u&&d.clip(u),ur(i,o),d.restore(),lr(e,a,t)):(ur(i,o),lr(e,a,t)),(c||l||f)&&d.restore()}function lr(e,t,n){n>0&&(t instanceof Map?t.forEach((e,t)=>{d.strokeStyle=dn=t,d.stroke(e)}):t!=null&&e&&d.stroke(t))}function ur(e,t){t instanceof Map?t.forEach((e,t)=>{d.fillStyle=mn=t,d.fill(e)}):t!=null&&e&&d.fill(t)}function dr(e,t,n,i){let a=y[e],o;if(i<=0)o=[0,0];else{let s=a._space=a.space(r,e,t,n,i);o=Fa(t,n,a._incrs=a.incrs(r,e,t,n,i,s),i,s)}return a._found=o}function fr(e,t,n,r,i,a,o,s,c,l){let u=o%2/2;h==1&&d.translate(u,u),zn(s,o,c,l,s),d.beginPath();let f,p,m,g,_=i+(r==0||r==3?-a:a);n==0?(p=i,g=_):(f=i,m=_);for(let r=0;r<e.length;r++)t[r]!=null&&(n==0?f=m=e[r]:p=g=e[r],d.moveTo(f,p),d.lineTo(m,g));d.stroke(),h==1&&d.translate(-u,-u)}function pr(e){let t=!0;return y.forEach((n,i)=>{if(!n.show)return;let a=b[n.scale];if(a.min==null){n._show&&(t=!1,n._show=!1,gr(!1));return}n._show||(t=!1,n._show=!0,gr(!1));let o=n.side,s=o%2,{min:c,max:l}=a,[u,d]=dr(i,c,l,s==0?V:H);if(d==0)return;let f=a.distr==2,p=n._splits=n.splits(r,i,c,l,u,d,f),m=a.distr==2?p.map(e=>an[e]):p,h=a.distr==2?an[p[1]]-an[p[0]]:u,g=n._values=n.values(r,n.filter(r,m,i,d,h),i,d,h);n._rotate=o==2?n.rotate(r,g,i,d):0;let _=n._size;n._size=gn(n.size(r,g,i,e)),_!=null&&n._size!=_&&(t=!1)}),t}function mr(e){let t=!0;return Jt.forEach((n,i)=>{let a=n(r,i,Vt,e);a!=Yt[i]&&(t=!1),Yt[i]=a}),t}function hr(){for(let e=0;e<y.length;e++){let t=y[e];if(!t.show||!t._show)continue;let n=t.side,i=n%2,a,o,c=t.stroke(r,e),l=n==0||n==3?-1:1,[u,f]=t._found;if(t.label!=null){let s=t.labelGap*l,p=hn((t._lpos+s)*W);Hn(t.labelFont[0],c,`center`,n==2?ut:dt),d.save(),i==1?(a=o=0,d.translate(p,hn(Ee+Oe/2)),d.rotate((n==3?-fn:fn)/2)):(a=hn(Te+De/2),o=p);let m=On(t.label)?t.label(r,e,u,f):t.label;d.fillText(m,a,o),d.restore()}if(f==0)continue;let p=b[t.scale],m=i==0?De:Oe,h=i==0?Te:Ee,_=t._splits,v=p.distr==2?_.map(e=>an[e]):_,x=p.distr==2?an[_[1]]-an[_[0]]:u,S=t.ticks,C=t.border,w=S.show?S.size:0,T=hn(w*W),E=hn((t.alignTo==2?t._size-w-t.gap:t.gap)*W),D=t._rotate*-fn/180,O=g(t._pos*W),k=O+(T+E)*l;o=i==0?k:0,a=i==1?k:0;let A=t.font[0];Hn(A,c,t.align==1?ft:t.align==2?pt:D>0?ft:D<0?pt:i==0?`center`:n==3?pt:ft,D||i==1?`middle`:n==2?ut:dt);let j=t.font[1]*t.lineGap,M=_.map(e=>g(s(e,p,m,h))),ee=t._values;for(let e=0;e<ee.length;e++){let t=ee[e];if(t!=null){i==0?a=M[e]:o=M[e],t=``+t;let n=t.indexOf(`
`)==-1?[t]:t.split(/\n/gm);for(let e=0;e<n.length;e++){let t=n[e];D?(d.save(),d.translate(a,o+e*j),d.rotate(D),d.fillText(t,0,0),d.restore()):d.fillText(t,a,o+e*j)}}}S.show&&fr(M,S.filter(r,v,e,f,x),i,n,O,T,Y(S.width*W,3),S.stroke(r,e),S.dash,S.cap);let te=t.grid;te.show&&fr(M,te.filter(r,v,e,f,x),i,i==0?2:1,i==0?Ee:Te,i==0?Oe:De,Y(te.width*W,3),te.stroke(r,e),te.dash,te.cap),C.show&&fr([O],[1],+(i==0),i==0?1:2,i==1?Ee:Te,i==1?Oe:De,Y(C.width*W,3),C.stroke(r,e),C.dash,C.cap)}fa(`drawAxes`)}function gr(e){v.forEach((t,n)=>{n>0&&(t._paths=null,e&&(i==1?(t.min=null,t.max=null):t.facets.forEach(e=>{e.min=null,e.max=null})))})}let _r=!1,vr=!1,br=[];function xr(){vr=!1;for(let e=0;e<br.length;e++)fa(...br[e]);br.length=0}function Sr(){_r||=(sr(wr),!0)}function Cr(e,t=!1){_r=!0,vr=t,e(r),wr(),t&&br.length>0&&queueMicrotask(xr)}r.batch=Cr;function wr(){if(ke&&=($n(),!1),je&&=(Le(),!1),Ae){if(G(p,ft,ye),G(p,ut,be),G(p,ct,V),G(p,lt,H),G(m,ft,ye),G(m,ut,be),G(m,ct,V),G(m,lt,H),G(f,ct,B),G(f,lt,ve),u.width=hn(B*W),u.height=hn(ve*W),y.forEach(({_el:e,_show:t,_size:n,_pos:r,side:i})=>{if(e!=null){if(t){let t=i===3||i===0?n:0,a=i%2==1;G(e,a?`left`:`top`,r-t),G(e,a?`width`:`height`,n),G(e,a?`top`:`left`,a?be:ye),G(e,a?`height`:`width`,a?H:V),Pt(e,Xe)}else Nt(e,Xe)}}),dn=mn=bn=En=kn=An=Fn=In=Sn=null,Rn=1,Yi(!0),ye!=xe||be!=Se||V!=Ce||H!=we){gr(!1);let e=V/Ce,t=H/we;if(I&&!Me&&P.left>=0){P.left*=e,P.top*=t,Ar&&Rt(Ar,hn(P.left),0,V,H),jr&&Rt(jr,0,hn(P.top),V,H);for(let n=0;n<wt.length;n++){let r=wt[n];r!=null&&(Dt[n]*=e,At[n]*=t,Rt(r,gn(Dt[n]),gn(At[n]),V,H))}}if(Q.show&&!Ne&&Q.left>=0&&Q.width>0){Q.left*=e,Q.width*=e,Q.top*=t,Q.height*=t;for(let e in $i)G(ti,e,Q[e])}xe=ye,Se=be,Ce=V,we=H}fa(`setSize`),Ae=!1}B>0&&ve>0&&(d.clearRect(0,0,u.width,u.height),fa(`drawClear`),w.forEach(e=>e()),fa(`draw`)),Q.show&&Ne&&(ni(Q),Ne=!1),I&&Me&&(Ki(null,!0,!1),Me=!1),N.show&&N.live&&Pe&&(Vi(),Pe=!1),c||(c=!0,r.status=1,fa(`ready`)),cn=!1,_r=!1}r.redraw=(e,t)=>{je=t||!1,e===!1?Sr():ii(S,D.min,D.max)};function Tr(e,n){let i=b[e];if(i.from==null){if(Xt==0){let t=i.range(r,n.min,n.max,e);n.min=t[0],n.max=t[1]}if(n.min>n.max){let e=n.min;n.min=n.max,n.max=e}if(Xt>1&&n.min!=null&&n.max!=null&&n.max-n.min<1e-16)return;e==S&&i.distr==2&&Xt>0&&(n.min=qt(n.min,t[0]),n.max=qt(n.max,t[0]),n.min==n.max&&n.max++),j[e]=n,ke=!0,Sr()}}r.setScale=Tr;let Or,kr,Ar,jr,Mr,Nr,Pr,Fr,Ir,Lr,X,Z,qr=!1,Zr=P.drag,Qr=Zr.x,ei=Zr.y;I&&(P.x&&(Or=It(Qe,m)),P.y&&(kr=It($e,m)),D.ori==0?(Ar=Or,jr=kr):(Ar=kr,jr=Or),X=P.left,Z=P.top);let Q=r.select=tr({show:!0,over:!0,left:0,width:0,top:0,height:0},e.select),ti=Q.show?It(Ze,Q.over?m:p):null;function ni(e,t){if(Q.show){for(let t in e)Q[t]=e[t],t in $i&&G(ti,t,e[t]);t!==!1&&fa(`setSelect`)}}r.setSelect=ni;function ri(e){if(v[e].show)F&&Pt(se[e],Xe);else if(F&&Nt(se[e],Xe),I){let t=Ct?wt[0]:wt[e];t!=null&&Rt(t,-10,-10,V,H)}}function ii(e,t,n){Tr(e,{min:t,max:n})}function ai(e,t,n,a){t.focus!=null&&Ci(e),t.show!=null&&v.forEach((n,r)=>{r>0&&(e==r||e==null)&&(n.show=t.show,ri(r),i==2?(ii(n.facets[0].scale,null,null),ii(n.facets[1].scale,null,null)):ii(n.scale,null,null),Sr())}),n!==!1&&fa(`setSeries`,e,t),a&&_a(`setSeries`,r,e,t)}r.setSeries=ai;function oi(e,t){tr(x[e],t)}function ci(e,t){e.fill=J(e.fill||null),e.dir=q(e.dir,-1),t??=x.length,x.splice(t,0,e)}function li(e){e==null?x.length=0:x.splice(e,1)}r.addBand=ci,r.setBand=oi,r.delBand=li;function ui(e,t){v[e].alpha=t,I&&wt[e]!=null&&(wt[e].style.opacity=t),F&&se[e]&&(se[e].style.opacity=t)}let di,fi,pi,mi={focus:!0};function Ci(e){if(e!=pi){let t=e==null,n=mt.alpha!=1;v.forEach((r,a)=>{if(i==1||a>0){let i=t||a==0||a==e;r._focus=t?null:i,n&&ui(a,i?1:mt.alpha)}}),pi=e,n&&Sr()}}F&&St&&ge(bt,R,e=>{P._lock||(Be(e),pi!=null&&ai(null,mi,!0,ma.setSeries))});function wi(e,t,n){let r=b[t];n&&(e=e/W-(r.ori==1?be:ye));let i=V;r.ori==1&&(i=H,e=i-e),r.dir==-1&&(e=i-e);let a=r._min,o=r._max,s=e/i,c=a+(o-a)*s,l=r.distr;return l==3?yn(10,c):l==4?Cn(c,r.asinh):l==100?r.bwd(c):c}function Ti(e,n){return qt(wi(e,S,n),t[0],K,Zt)}r.valToIdx=e=>qt(e,t[0]),r.posToIdx=Ti,r.posToVal=wi,r.valToPos=(e,t,n)=>b[t].ori==0?a(e,b[t],n?De:V,n?Te:0):o(e,b[t],n?Oe:H,n?Ee:0),r.setCursor=(e,t,n)=>{X=e.left,Z=e.top,Ki(null,t,n)};function Ei(e,t){G(ti,ft,Q.left=e),G(ti,ct,Q.width=t)}function Di(e,t){G(ti,ut,Q.top=e),G(ti,lt,Q.height=t)}let Ni=D.ori==0?Ei:Di,Pi=D.ori==1?Ei:Di;function Fi(){if(F&&N.live)for(let e=+(i==2);e<v.length;e++){if(e==0&&ue)continue;let t=N.values[e],n=0;for(let r in t)ce[e][n++].firstChild.nodeValue=t[r]}}function Vi(e,t){if(e!=null&&(e.idxs?e.idxs.forEach((e,t)=>{ie[t]=e}):Jn(e.idx)||ie.fill(e.idx),N.idx=ie[0]),F&&N.live){for(let e=0;e<v.length;e++)(e>0||i==1&&!ue)&&Gi(e,ie[e]);Fi()}Pe=!1,t!==!1&&fa(`setLegend`)}r.setLegend=Vi;function Gi(e,n){let i=v[e],a=e==0&&O==2?an:t[e],o;ue?o=i.values(r,e,n)??z:(o=i.value(r,n==null?null:a[n],e,n),o=o==null?z:{_:o}),N.values[e]=o}function Ki(e,n,a){Ir=X,Lr=Z,[X,Z]=P.move(r,X,Z),P.left=X,P.top=Z,I&&(Ar&&Rt(Ar,hn(X),0,V,H),jr&&Rt(jr,0,hn(Z),V,H));let o,s=K>Zt;di=Tn,fi=null;let c=D.ori==0?V:H,l=D.ori==1?V:H;if(X<0||Xt==0||s){o=P.idx=null;for(let e=0;e<v.length;e++){let t=wt[e];t!=null&&Rt(t,-10,-10,V,H)}St&&ai(null,mi,!0,e==null&&ma.setSeries),N.live&&(ie.fill(o),Pe=!0)}else{let e,n,a;i==1&&(e=D.ori==0?X:Z,n=wi(e,S),o=P.idx=qt(n,t[0],K,Zt),a=k(t[0][o],D,c,0));let s=-10,u=-10,d=0,f=0,p=!0,m=``,h=``;for(let e=+(i==2);e<v.length;e++){let g=v[e],_=ie[e],y=_==null?null:i==1?t[e][_]:t[e][1][_],x=P.dataIdx(r,e,o,n),S=x==null?null:i==1?t[e][x]:t[e][1][x];if(Pe=Pe||S!=y||x!=_,ie[e]=x,e>0&&g.show){let n=x==null?-10:x==o?a:k(i==1?t[0][x]:t[e][0][x],D,c,0),_=S==null?-10:A(S,i==1?b[g.scale]:b[g.facets[1].scale],l,0);if(St&&S!=null){let t=D.ori==1?X:Z,n=pn(mt.dist(r,e,x,_,t));if(n<di){let r=mt.bias;if(r!=0){let i=wi(t,g.scale),a=S>=0?1:-1,o=i>=0?1:-1;o==a&&(o==1?r==1?S>=i:S<=i:r==1?S<=i:S>=i)&&(di=n,fi=e)}else di=n,fi=e}}if(Pe||Ct){let t,i;D.ori==0?(t=n,i=_):(t=_,i=n);let a,o,c,l,g,v,y=!0,b=Ve.bbox;if(b!=null){y=!1;let t=b(r,e);c=t.left,l=t.top,a=t.width,o=t.height}else c=t,l=i,a=o=Ve.size(r,e);if(v=Ve.fill(r,e),g=Ve.stroke(r,e),Ct)e==fi&&di<=mt.prox&&(s=c,u=l,d=a,f=o,p=y,m=v,h=g);else{let t=wt[e];t!=null&&(Dt[e]=c,At[e]=l,Ht(t,a,o,y),Bt(t,v,g),Rt(t,gn(c),gn(l),V,H))}}}}if(Ct){let e=mt.prox;if(Pe||(pi==null?di<=e:di>e||fi!=pi)){let e=wt[0];e!=null&&(Dt[0]=s,At[0]=u,Ht(e,d,f,p),Bt(e,m,h),Rt(e,gn(s),gn(u),V,H))}}}if(Q.show&&qr){if(e!=null){let[t,n]=ma.scales,[r,i]=ma.match,[a,o]=e.cursor.sync.scales,s=e.cursor.drag;if(Qr=s._x,ei=s._y,Qr||ei){let{left:s,top:u,width:d,height:f}=e.select,p=e.scales[a].ori,m=e.posToVal,h,g,_,v,y,x=t!=null&&r(t,a),S=n!=null&&i(n,o);x&&Qr?(p==0?(h=s,g=d):(h=u,g=f),_=b[t],v=k(m(h,a),_,c,0),y=k(m(h+g,a),_,c,0),Ni(_n(v,y),pn(y-v))):Ni(0,c),S&&ei?(p==1?(h=s,g=d):(h=u,g=f),_=b[n],v=A(m(h,o),_,l,0),y=A(m(h+g,o),_,l,0),Pi(_n(v,y),pn(y-v))):Pi(0,l)}else ea()}else{let e=pn(Ir-Mr),t=pn(Lr-Nr);if(D.ori==1){let n=e;e=t,t=n}Qr=Zr.x&&e>=Zr.dist,ei=Zr.y&&t>=Zr.dist;let n=Zr.uni;n==null?Zr.x&&Zr.y&&(Qr||ei)&&(Qr=ei=!0):Qr&&ei&&(Qr=e>=n,ei=t>=n,!Qr&&!ei&&(t>e?ei=!0:Qr=!0));let r,i;Qr&&(D.ori==0?(r=Pr,i=X):(r=Fr,i=Z),Ni(_n(r,i),pn(i-r)),ei||Pi(0,l)),ei&&(D.ori==1?(r=Pr,i=X):(r=Fr,i=Z),Pi(_n(r,i),pn(i-r)),Qr||Ni(0,c)),!Qr&&!ei&&(Ni(0,0),Pi(0,0))}}if(Zr._x=Qr,Zr._y=ei,e==null){if(a){if(ha!=null){let[e,t]=ma.scales;ma.values[0]=e==null?null:wi(D.ori==0?X:Z,e),ma.values[1]=t==null?null:wi(D.ori==1?X:Z,t)}_a(gt,r,X,Z,V,H,o)}if(St){let e=a&&ma.setSeries,t=mt.prox;pi==null?di<=t&&ai(fi,mi,!0,e):di>t?ai(null,mi,!0,e):fi!=pi&&ai(fi,mi,!0,e)}}Pe&&(N.idx=o,Vi()),n!==!1&&fa(`setCursor`)}let Ji=null;Object.defineProperty(r,"rect",{get(){return Ji??Yi(!1),Ji}});function Yi(e=!1){e?Ji=null:(Ji=m.getBoundingClientRect(),fa(`syncRect`,Ji))}function Xi(e,t,n,r,i,a,o){P._lock||qr&&e!=null&&e.movementX==0&&e.movementY==0||(Zi(e,t,n,r,i,a,o,!1,e!=null),e==null?Ki(t,!0,!1):Ki(null,!0,!0))}function Zi(e,t,n,i,a,o,c,l,u){if(Ji??Yi(!1),Be(e),e!=null)n=e.clientX-Ji.left,i=e.clientY-Ji.top;else{if(n<0||i<0){X=-10,Z=-10;return}let[e,r]=ma.scales,c=t.cursor.sync,[l,u]=c.values,[d,f]=c.scales,[p,m]=ma.match,h=t.axes[0].side%2==1,g=D.ori==0?V:H,_=D.ori==1?V:H,v=h?o:a,y=h?a:o,x=h?i:n,S=h?n:i;if(n=d==null?x/v*g:p(e,d)?s(l,b[e],g,0):-10,i=f==null?S/y*_:m(r,f)?s(u,b[r],_,0):-10,D.ori==1){let e=n;n=i,i=e}}u&&(t==null||t.cursor.event.type==gt)&&((n<=1||n>=V-1)&&(n=Ln(n,V)),(i<=1||i>=H-1)&&(i=Ln(i,H))),l?(Mr=n,Nr=i,[Pr,Fr]=P.move(r,n,i)):(X=n,Z=i)}let $i={width:0,height:0,left:0,top:0};function ea(){ni($i,!1)}let ta,na,ra,ia;function aa(e,t,n,i,a,o,s){qr=!0,Qr=ei=Zr._x=Zr._y=!1,Zi(e,t,n,i,a,o,s,!0,!1),e!=null&&(ge(vt,Ot,oa,!1),_a(_t,r,Pr,Fr,V,H,null));let{left:c,top:l,width:u,height:d}=Q;ta=c,na=l,ra=u,ia=d}function oa(e,t,n,i,a,o,s){qr=Zr._x=Zr._y=!1,Zi(e,t,n,i,a,o,s,!1,!0);let{left:c,top:l,width:u,height:d}=Q,f=u>0||d>0,p=ta!=c||na!=l||ra!=u||ia!=d;if(f&&p&&ni(Q),Zr.setScale&&f&&p){let e=c,t=u,n=l,r=d;if(D.ori==1&&(e=l,t=d,n=c,r=u),Qr&&ii(S,wi(e,S),wi(e+t,S)),ei)for(let e in b){let t=b[e];e!=S&&t.from==null&&t.min!=Tn&&ii(e,wi(n+r,e),wi(n,e))}ea()}else P.lock&&(P._lock=!P._lock,Ki(t,!0,e!=null));e!=null&&(_e(vt,Ot),_a(vt,r,X,Z,V,H,null))}function sa(e,t,n,r,i,a,o){if(P._lock)return;Be(e);let s=qr;if(qr){let e=!0,t=!0,n,r;D.ori==0?(n=Qr,r=ei):(n=ei,r=Qr),n&&r&&(e=X<=10||X>=V-10,t=Z<=10||Z>=H-10),n&&e&&(X=X<Pr?0:V),r&&t&&(Z=Z<Fr?0:H),Ki(null,!0,!0),qr=!1}X=-10,Z=-10,ie.fill(null),Ki(null,!0,!0),s&&(qr=s)}function ca(e,t,n,i,a,o,s){P._lock||(Be(e),un(),ea(),e!=null&&_a(xt,r,X,Z,V,H,null))}function la(){y.forEach(La),Fe(r.width,r.height,!0)}Gt(Tt,kt,la);let ua={};ua.mousedown=aa,ua.mousemove=Xi,ua.mouseup=oa,ua.dblclick=ca,ua.setSeries=(e,t,n,i)=>{let a=ma.match[2];n=a(r,t,n),n!=-1&&ai(n,i,!0,!1)},I&&(ge(_t,m,aa),ge(gt,m,Xi),ge(yt,m,e=>{Be(e),Yi(!1)}),ge(bt,m,sa),ge(xt,m,ca),xa.add(r),r.syncRect=Yi);let da=r.hooks=e.hooks||{};function fa(e,t,n){vr?br.push([e,t,n]):e in da&&da[e].forEach(e=>{e.call(null,r,t,n)})}(e.plugins||[]).forEach(e=>{for(let t in e.hooks)da[t]=(da[t]||[]).concat(e.hooks[t])});let pa=(e,t,n)=>n,ma=tr({key:null,setSeries:!1,filters:{pub:Nn,sub:Nn},scales:[S,v[1]?v[1].scale:null],match:[Pn,Pn,pa],values:[null,null]},P.sync);ma.match.length==2&&ma.match.push(pa),P.sync=ma;let ha=ma.key,ga=Hi(ha);function _a(e,t,n,r,i,a,o){ma.filters.pub(e,t,n,r,i,a,o)&&ga.pub(e,t,n,r,i,a,o)}ga.sub(r);function va(e,t,n,r,i,a,o){ma.filters.sub(e,t,n,r,i,a,o)&&ua[e](null,t,n,r,i,a,o)}r.pub=va;function ya(){ga.unsub(r),xa.delete(r),he.clear(),Kt(Tt,kt,la),l.remove(),R?.remove(),fa(`destroy`)}r.destroy=ya;function ba(){fa(`init`,e,t),ln(t||e.data,!1),j[S]?Tr(S,j[S]):un(),Ne=Q.show&&(Q.width>0||Q.height>0),Me=Pe=!0,Fe(e.width,e.height)}return v.forEach(Mt),y.forEach(Ut),n?n instanceof HTMLElement?(n.appendChild(l),ba()):n(r,ba):ba(),r}Ra.assign=tr,Ra.fmtNum=un,Ra.rangeNum=on,Ra.rangeLog=$t,Ra.rangeAsinh=en,Ra.orient=Gi,Ra.pxRatio=W,Ra.join=or,Ra.fmtDate=yr,Ra.tzDate=xr,Ra.sync=Hi;{Ra.addGap=Xi,Ra.clipGaps=Yi;let e=Ra.paths={points:ua};e.linear=ma,e.stepped=ha,e.bars=_a,e.spline=ya}function za(){let e=getComputedStyle(document.documentElement),t=t=>e.getPropertyValue(`--${t}`).trim();return{text:t(`text`),faint:t(`faint`),grid:t(`grid`),edge:t(`edge`),card:t(`card`),share:t(`share`),series:Array.from({length:9},(e,n)=>t(`series-${n}`))}}function Ba(e){let t=[[],[7,4],[2,3],[9,3,2,3]];return t[Math.floor(e/9)%t.length]??[]}function Va(e){let t=matchMedia(`(prefers-color-scheme: dark)`);return t.addEventListener(`change`,e),()=>t.removeEventListener(`change`,e)}function Ha(){return matchMedia(`(prefers-reduced-motion: reduce)`).matches}var Ua=`12px system-ui, sans-serif`;function Wa(e,t){return(e.colour??t)%9}function Ga(e,t,n){let r=za(),i={stroke:r.faint,grid:{stroke:r.grid,width:1},ticks:{stroke:r.grid},font:Ua};return{width:t,height:e.height??200,legend:{show:!1},cursor:{drag:{x:!1,y:!1},points:{show:!1},...e.cursor?{sync:{key:e.cursor}}:{}},scales:{x:{time:!1,range:(e,t,r)=>n().span??[t??0,r??1]},y:{distr:e.isLogarithmic?3:1,range:(t,r,i)=>n().range??Ka(r,i,e.isLogarithmic??!1)}},axes:[{...i,values:(e,t)=>t.map(e=>n().timeText?.(e)??`${Number(e.toFixed(6))} s`),size:28},{...i,values:(t,n)=>n.map(t=>t===null?``:Fe(e.format(t))),size:76}],series:[{},...e.series.map((e,t)=>({label:e.name,stroke:e.isMark?r.share:r.series[Wa(e,t)]??r.text,width:e.width??(e.isMark?1.5:1.75),dash:e.dash??(e.isMark?[6,4]:Ba(e.colour??t)),points:{show:!1},spanGaps:!1}))]}}function Ka(e,t,n){if(n)return[Math.max(1e-9,e??.001),Math.max(1e-8,(t??1)*1.2)];let r=t&&t>0?t*1.06:1;return[Math.min(0,e??0),r]}function qa(e){return e.map(e=>{for(let t=0;t<e.length;t+=1)if(Number.isNaN(e[t]??0))return Array.from(e,e=>Number.isNaN(e??0)?null:e);return e})}function Ja(e){let t=H(null),n=H(null),r=H(e);r.current=e;let[i,a]=B(new Set),o=e.series.map(e=>e.name).join(`
`);V(()=>{let e=t.current;if(!e)return;let a=()=>{n.current?.destroy();let t=Ga(r.current,e.clientWidth,()=>r.current);n.current=new Ra(t,qa(r.current.data()),e),r.current.series.forEach((e,t)=>{i.has(Ya(e))&&n.current?.setSeries(t+1,{show:!1})})};a();let o=new ResizeObserver(()=>{let t=e.clientWidth;t>0&&n.current&&n.current.width!==t&&n.current.setSize({width:t,height:r.current.height??200})});o.observe(e);let s=Va(a);return()=>{s(),o.disconnect(),n.current?.destroy(),n.current=null}},[o,e.isLogarithmic]),V(()=>{n.current?.setData(qa(e.data()))},[e.version,o,e.span?.[0],e.span?.[1]]);let s=t=>{let r=new Set(i);r.delete(t)||r.add(t),a(r),n.current?.batch(()=>{e.series.forEach((e,i)=>{Ya(e)===t&&n.current?.setSeries(i+1,{show:!r.has(t)})})})},c=ye(()=>U(Qa,{...e}),[Math.floor(performance.now()/1e3),o]);return U(`figure`,{class:`line-chart`,"aria-label":e.title,children:[U(`div`,{class:`axis-name`,"aria-hidden":`true`,children:e.axis}),U(`div`,{class:`plot`,ref:t,"aria-hidden":`true`}),(e.hasLegend??!0)&&U(Xa,{series:e.series,hidden:i,toggle:s}),c]})}function Ya(e){return e.group??e.name}function Xa(e){let t=new Map;return e.series.forEach((e,n)=>{t.has(Ya(e))||t.set(Ya(e),{series:e,index:n})}),U(`ul`,{class:`legend`,children:[...t].map(([t,{series:n,index:r}])=>U(`li`,{children:U(`button`,{type:`button`,class:`entry`,"aria-pressed":!e.hidden.has(t),title:`hide or show ${t}`,onClick:()=>e.toggle(t),children:[U(Za,{series:n,index:r}),t]})},t))})}function Za(e){let{series:t,index:n}=e,r=t.dash??(t.isMark?[6,4]:Ba(t.colour??n));return U(`svg`,{class:`key`,width:`22`,height:`8`,"aria-hidden":`true`,children:U(`line`,{class:t.isMark?`share`:`series-${Wa(t,n)}`,x1:`1`,x2:`21`,y1:`4`,y2:`4`,"stroke-width":`2.5`,"stroke-dasharray":r.join(` `)})})}function Qa(e){let[t,...n]=e.data(),r=(t?.length??0)-1,i=e.timeText??(e=>`${e.toFixed(2)} s`),a=t=>t==null||Number.isNaN(t)?`none`:e.format(t);return U(`div`,{class:`unseen`,children:U(`table`,{children:[U(`caption`,{children:[e.title,`: `,e.axis,`; the last values are of `,i(t?.[r]??0)]}),U(`thead`,{children:U(`tr`,{children:[U(`th`,{scope:`col`,children:`line`}),U(`th`,{scope:`col`,children:`last`}),U(`th`,{scope:`col`,children:`greatest`})]})}),U(`tbody`,{children:e.series.map((e,t)=>U(`tr`,{children:[U(`th`,{scope:`row`,children:e.name}),U(`td`,{children:a(n[t]?.[r])}),U(`td`,{children:a($a(n[t]))})]},e.name))})]})})}function $a(e){let t=null;for(let n=0;n<(e?.length??0);n+=1){let r=e?.[n];typeof r==`number`&&!Number.isNaN(r)&&(t===null||r>t)&&(t=r)}return t}var eo=6,to=108,no=16,ro=20;function io(e,t){let n=e.map(e=>e.delivered),r=Math.max(t??0,...n,...e.map(e=>oo(e.demand)));return Math.min(r,4*Math.max(t??0,...n))*1.08||1}function ao(e){let t=e.height??200,n=H(null),[r,i]=B(400);V(()=>{let e=n.current;if(!e)return;let t=new ResizeObserver(()=>i(Math.max(200,e.clientWidth)));return t.observe(e),()=>t.disconnect()},[]);let{levels:a,share:o}=e,s=e.top??io(a,o),c=e=>no+(t-no-ro)*(1-Math.min(e,s)/s),l=(r-eo-to)/Math.max(1,a.length),u=Math.max(1,Math.min(60,l*.8)),d=c(0);return U(`figure`,{class:`waterline`,"aria-label":e.title,ref:n,children:[U(`svg`,{viewBox:`0 0 ${r} ${t}`,height:t,"aria-hidden":`true`,class:`waterline-picture`,children:[a.map((n,r)=>{let i=eo+l*(r+.5)-u/2,a=Number.isFinite(n.demand)?c(n.demand):10,o=c(n.delivered);return U(`g`,{onClick:()=>e.onPick?.(n.name),children:[U(`title`,{children:so(n,e)}),U(`rect`,{class:`demand`,x:i,y:a,width:u,height:Math.max(0,d-a)}),U(`rect`,{class:`series-${(n.colour??0)%9}`,x:i,y:o,width:u,height:Math.max(0,d-o)}),n.share!==void 0&&U(`line`,{class:`share`,x1:i-2,x2:i+u+2,y1:c(n.share),y2:c(n.share),"stroke-width":`2`}),l>=34&&U(`text`,{x:i+u/2,y:t-5,"text-anchor":`middle`,children:n.name.length*6.4>l?`${n.name.slice(0,Math.floor(l/6.4)-1)}…`:n.name})]},n.name)}),U(`line`,{class:`base`,x1:eo,x2:r-to,y1:d,y2:d}),o!==void 0&&U(`g`,{children:[U(`line`,{class:`share`,x1:0,x2:r-to+6,y1:c(o),y2:c(o),"stroke-width":`2`}),U(`text`,{class:`share-text`,x:r-to+10,y:c(o)-4,children:`fair share`}),U(`text`,{class:`share-text`,x:r-to+10,y:c(o)+11,children:e.format(o)})]})]}),U(`div`,{class:`unseen`,children:U(`table`,{children:[U(`caption`,{children:e.title}),U(`thead`,{children:U(`tr`,{children:[U(`th`,{scope:`col`,children:`who`}),U(`th`,{scope:`col`,children:`wants`}),U(`th`,{scope:`col`,children:`gets`}),U(`th`,{scope:`col`,children:`fair share`})]})}),U(`tbody`,{children:a.slice(0,100).map(t=>U(`tr`,{children:[U(`th`,{scope:`row`,children:t.name}),U(`td`,{children:Number.isFinite(t.demand)?e.format(t.demand):`all there is`}),U(`td`,{children:e.format(t.delivered)}),U(`td`,{children:co(t,e)})]},t.name))})]})})]})}function oo(e){return Number.isFinite(e)?e:0}function so(e,t){let n=Number.isFinite(e.demand)?t.format(e.demand):`all there is`;return`${e.name}: gets ${t.format(e.delivered)}, wants ${n}, fair ${co(e,t)}`}function co(e,t){let n=e.share??t.share;return n===void 0?`not worked out`:t.format(n)}var lo=200;function uo(e){let[t,n]=B(e.text),[r,i]=B(null),a=H(e.text);a.current=e.text,V(()=>{n(e.text),p(!1)},[e.text]);let{min:o,max:s,value:c}=e,l=e.isLogarithmic??!1,u=e=>l?lo*Math.log(e/o)/Math.log(s/o):e,d=e=>l?o*(s/o)**(e/lo):e,[f,p]=B(!1),m=async()=>{t.trim()!==``&&t!==e.text?p(!await e.change(t.trim())):p(!1)},h=t=>{i(t),n(e.write(d(t)))},g=async t=>{await e.change(e.write(d(t))),p(!1),i(null),n(a.current)};return U(`div`,{class:`slider`,children:[U(`label`,{children:[U(`span`,{children:e.label}),U(`input`,{type:`text`,value:t,"aria-label":`${e.label}, as text`,"aria-invalid":f,onInput:e=>n(e.currentTarget.value),onBlur:()=>void m(),onKeyDown:e=>e.key===`Enter`&&void m()})]}),f&&U(`p`,{class:`refused small`,children:[`not allowed; the run has `,e.text]}),c!==null&&U(`input`,{type:`range`,"aria-label":e.label,"aria-valuetext":e.text,min:l?0:o,max:l?lo:s,step:l?1:e.step??1,value:r??u(Math.min(s,Math.max(o,c))),onInput:e=>h(Number(e.currentTarget.value)),onChange:e=>void g(Number(e.currentTarget.value))})]})}function fo(e){return U(`label`,{class:`choice`,children:[U(`span`,{children:e.label}),U(`select`,{value:e.value,onChange:t=>e.change(t.currentTarget.value),children:e.options.map(({name:e,text:t})=>U(`option`,{value:e,children:t},e))})]})}var po={"bit/s":1,"kbit/s":1e3,"Mbit/s":1e6,"Gbit/s":1e9,s:1,ms:.001,us:1e-6,ns:1e-9,packets:1,packet:1,B:1,kB:1e3,KiB:1024,MB:1e6,MiB:1048576};function mo(e){if(typeof e==`number`)return e;let t=ho(e),n=t?po[t.unit]:void 0;return t&&n!==void 0?t.number*n:null}function ho(e){let t=typeof e==`string`?/^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/]+)\s*$/.exec(e):null;return t?{number:Number(t[1]),unit:t[2]??``}:null}var go={packets:[5,2e3],packet:[5,2e3],B:[7500,3e6],kB:[7.5,3e3],KiB:[7.5,3e3],MB:[.0075,3],MiB:[.0075,3],s:[.001,2],ms:[1,2e3],us:[1e3,2e6],bdp:[.1,10]};function _o(e){let t=ho(e),n=t?go[t.unit]:void 0;if(!t||!n)return null;let{number:r,unit:i}=t,a=i.startsWith(`packet`)||i===`B`;return{value:r,min:n[0],max:n[1],write:e=>i.startsWith(`packet`)?yo.packets(e):`${a?Math.round(e):vo(e)} ${i}`}}var vo=e=>String(Number(e.toPrecision(3))),yo={rate:e=>e>=1e6?`${vo(e/1e6)} Mbit/s`:`${vo(e/1e3)} kbit/s`,time:e=>e>=1?`${vo(e)} s`:`${vo(e*1e3)} ms`,packets:e=>`${Math.max(1,Math.round(Number(e.toPrecision(3))))} packets`,count:e=>String(Math.round(e))},bo=e=>typeof e==`object`&&!Array.isArray(e),xo=e=>Array.isArray(e)&&e.length>0&&e.every(bo);function So(e){return/^[A-Za-z0-9_-]+$/.test(e)?e:JSON.stringify(e)}function Co(e){return typeof e==`string`?JSON.stringify(e):Array.isArray(e)?`[${e.map(Co).join(`, `)}]`:bo(e)?`{ ${Object.entries(e).map(([e,t])=>`${So(e)} = ${Co(t)}`).join(`, `)} }`:String(e)}function wo(e){let t=Object.entries(e),n=t.filter(([,e])=>!bo(e)&&!xo(e)).map(([e,t])=>`${So(e)} = ${Co(t)}`);for(let[e,r]of t)if(bo(r))n.push(``,`[${So(e)}]`,...To(r));else if(xo(r)&&e!==`disciplines`)for(let t of r)n.push(``,`[[${So(e)}]]`,...To(t));else xo(r)&&n.unshift(`${So(e)} = ${Co(r)}`);return`${n.join(`
`)}\n`}function To(e){return Object.entries(e).map(([e,t])=>`${So(e)} = ${Co(t)}`)}function Eo(e,t){return!Array.isArray(e)||typeof t==`number`?t:e.findIndex(e=>bo(e)&&e.group===t)}function Do(e,t){let n=e;for(let e of t){if(n===void 0||typeof n!=`object`)return;n=n[Eo(n,e)]}return n}function Oo(e,t,n){let r=structuredClone(e),i=r;for(let e of t.slice(0,-1)){let t=Eo(i,e),n=i[t];(n===void 0||typeof n!=`object`)&&(i[t]={}),i=i[t]}let a=t[t.length-1];if(a===void 0)return r;let o=Eo(i,a);return n===void 0?delete i[o]:i[o]=n,r}var $=e=>e===void 0?``:typeof e==`object`?JSON.stringify(e):String(e);function ko(e){return U(`div`,{class:`contest`,children:[U(Io,{...e}),U(Ao,{...e}),U(Mo,{...e}),U(Ho,{...e}),U(No,{...e})]})}function Ao(e){let{document:t}=e.about,n=t.link,r=t.network;return bo(n)?U(`fieldset`,{children:[U(`legend`,{children:`Link`}),U(jo,{...e,path:[`link`],table:n}),U(uo,{label:`delay, one way`,text:$(n.delay),value:mo(n.delay),min:.001,max:.2,isLogarithmic:!0,write:yo.time,change:t=>e.edit([`link`,`delay`],t)})]}):Array.isArray(n)?U(y,{children:n.map((t,n)=>{let r=$(t.name)||`${$(t.from)}-${$(t.to)}`;return t.buffer===void 0?null:U(`fieldset`,{children:[U(`legend`,{children:[`Link `,r]}),U(jo,{...e,path:[`link`,n],table:t})]},r)})}):bo(r)?U(y,{children:Object.entries(r).map(([t,n])=>bo(n)?U(`fieldset`,{children:[U(`legend`,{children:[`Links of the `,t]}),U(jo,{...e,path:[`network`,t],table:n})]},t):null)}):null}function jo(e){let{path:t,table:n,edit:r}=e,i=n.trace===void 0?Object.keys(n).filter(e=>e===`rate`||e.endsWith(`_rate`)):[],a=_o(n.buffer);return U(y,{children:[i.map(e=>U(uo,{label:e.replace(`_`,` `),text:$(n[e]),value:mo(n[e]),min:1e6,max:1e8,isLogarithmic:!0,write:yo.rate,change:n=>r([...t,e],n)},e)),n.buffer!==void 0&&U(uo,{label:`buffer`,text:$(n.buffer),value:a?.value??null,min:a?.min??1,max:a?.max??2,isLogarithmic:!0,write:a?.write??String,change:e=>r([...t,`buffer`],e)})]})}function Mo({about:e,edit:t}){let n=e.document.aggregate??[];return n.length===0?null:U(`fieldset`,{children:[U(`legend`,{children:`Contracts`}),n.map((e,n)=>U(uo,{label:$(e.name),text:$(e.target),value:mo(e.target),min:1e5,max:1e8,isLogarithmic:!0,write:yo.rate,change:e=>t([`aggregate`,n,`target`],e)},n))]})}function No({about:e,edit:t}){let{document:n,duration_s:r}=e,i=(e,n,r,i,a)=>U(uo,{label:e.replace(`_`,`-`),text:n,value:r,min:i,max:a,step:a>10?1:.1,write:yo.time,change:n=>t([e],n)});return U(`fieldset`,{children:[U(`legend`,{children:`Measuring`}),i(`duration`,$(n.duration),r,1,Math.max(120,r)),i(`warm_up`,$(n.warm_up??`0 s`),e.warm_up_s,0,r),U(uo,{label:`seeds`,text:$(n.seeds??1),value:null,min:0,max:1,write:yo.count,change:e=>t([`seeds`],Bo(e))})]})}function Po(e){let t=e.document.disciplines??e.disciplines;return e.disciplines.map((e,n)=>{let r=t[n]??e;if(!bo(r))return{label:e,name:$(r),path:[`discipline`,Fo($(r))],typed:r};let i=Object.keys(r).find(e=>e!==`label`)??e;return{label:e,name:i,path:[`disciplines`,n,i],typed:r}})}var Fo=e=>e.split(`+`).pop()??e;function Io({about:e,parts:t,edit:n}){let r=t.filter(e=>e.kind===`discipline`),i=Po(e),a=i.map(e=>e.label),o=r.map(e=>e.name),s=e.sides.slice(0,2),c=[...new Set([...a,...o])],l=e=>{let t=s[1-e];return c.map(e=>({name:e,text:e===t?`${e}, with settings of its own`:e}))},u=(e,t)=>{let r=[...s];t===``?r.splice(e,1):r[e]=t===s[1-e]?Lo(i.find(e=>e.label===t)?.name??t,a):t,n([`disciplines`],r.map(e=>i.find(t=>t.label===e)?.typed??e))};return U(`fieldset`,{children:[U(`legend`,{children:`Disciplines`}),U(fo,{label:`A`,value:s[0]??``,options:l(0),change:e=>u(0,e)}),U(fo,{label:`B`,value:s[1]??``,options:[{name:``,text:`none`},...l(1)],change:e=>u(1,e)}),s.map(t=>{let a=i.find(({label:e})=>e===t),o=a&&r.find(({name:e})=>e===Fo(a.name));return a&&o&&U(Ro,{entry:a,part:o,about:e,edit:n},t)})]})}function Lo(e,t){let n=e.replace(/[^A-Za-z0-9_-]/g,`-`),r=2;for(;t.includes(`${n}-${r}`);)r+=1;return{[e]:{},label:`${n}-${r}`}}function Ro(e){let{entry:t,part:n,about:r,edit:i}=e,a=n.fields.filter(e=>!(t.name.includes(`+`)&&e.name===`scheduler`));if(a.length===0)return null;let o=Do(r.document,t.path),s=bo(o)?Object.entries(o).map(([e,t])=>`${e} = ${$(t)}`):[];return U(`details`,{children:[U(`summary`,{children:[`parameters of `,t.label,s.length>0&&U(`span`,{class:`faint`,children:[`: `,s.join(`, `)]})]}),U(`p`,{class:`faint small`,children:zo(n.summary)}),a.map(e=>{let n=[...t.path,e.name];return U(`div`,{class:`parameter`,children:[U(`label`,{children:[U(`span`,{children:e.name}),U(`input`,{type:`text`,value:$(Do(r.document,n)),placeholder:zo(e.default),onChange:e=>void i(n,Bo(e.currentTarget.value))})]}),U(`p`,{class:`faint small`,children:e.range?`${zo(e.text).replace(/\.$/,``)} (${zo(e.range)}).`:zo(e.text)})]},e.name)})]})}function zo(e){return e.replace(/\[([^\]]*)\]\([^)]*\)/g,`$1`).replace(/\[(`[^`]*`)\]/g,`$1`).replace(/[`*]/g,``)}function Bo(e){let t=e.trim();if(t!==``)return t===`true`||t===`false`?t===`true`:Number.isFinite(Number(t))?Number(t):t}var Vo=e=>e.flow??[];function Ho({about:e,parts:t,edit:n,refuse:r}){let i=Vo(e.document),a=e=>n([`flow`],n=>{let r=Vo(n),i=r.map(e=>$(e.group)),a=e;for(let t=2;i.includes(a);t+=1)a=`${e}-${t}`;return[...r,Uo(a,e,t)]});return U(`fieldset`,{children:[U(`legend`,{children:`Who sends`}),i.map(a=>U(Ko,{group:a,about:e,parts:t,edit:n,refuse:r,isLast:i.length===1},$(a.group))),U(`div`,{class:`add`,children:[U(`span`,{class:`faint small`,children:`add`}),[[`bulk`,`TCP`],[`cbr`,`UDP`],[`web`,`web`],[`voip`,`call`]].map(([e,t])=>U(`button`,{type:`button`,onClick:()=>void a(e??``),children:[`+ `,t]},e))]})]})}function Uo(e,t,n){let r=n.find(e=>e.kind===`source`&&e.name===t),i=r?.is_tcp?{tcp:{control:`cubic`}}:{};return{group:e,source:r?.typed??t,...i,access:{rate:`100 Mbit/s`,delay:`5 ms`}}}function Wo(e){return typeof e==`object`&&!Array.isArray(e)?Object.keys(e)[0]??``:$(e)}var Go=[`off`,`ect0`,`ect1`];function Ko({group:e,about:t,parts:n,edit:r,refuse:i,isLast:a}){let o=$(e.group),s=Wo(e.source),c=n.find(e=>e.kind===`source`&&e.name===s),l=(...e)=>[`flow`,o,...e],u=Do(e,[`source`,s,`rate`]),d=()=>r([`flow`],e=>Vo(e).filter(e=>e.group!==o)),f=n.filter(e=>e.kind===`source`&&e.name!==`replay`);return U(`div`,{class:`sender`,role:`group`,"aria-label":`senders ${o}`,children:[U(`div`,{class:`sender-head`,children:[U(`strong`,{children:o}),U(`button`,{type:`button`,class:`quiet`,disabled:a,"aria-label":`remove ${o}`,onClick:()=>void d(),children:`remove`})]}),U(fo,{label:`sends`,value:s,options:f.map(e=>({name:e.name,text:e.is_tcp?`${e.name} (TCP)`:`${e.name} (UDP)`})),change:t=>{let{access:i,start:a,count:s}=e,c=Uo(o,t,n);r(l(),{...c,access:i??c.access??{},...a?{start:a}:{},...s?{count:s}:{}})}}),c?.is_tcp&&U(qo,{group:e,path:l,parts:n,edit:r}),c?.is_tcp&&U(fo,{label:`ECN`,value:$(Do(e,[`tcp`,`ecn`])),options:[{name:``,text:`usual for this TCP`},...Go.map(e=>({name:e,text:e}))],change:e=>void r(l(`tcp`,`ecn`),e===``?void 0:e)}),U(uo,{label:`how many`,text:$(e.count??1),value:Number(e.count??1),min:1,max:50,write:yo.count,change:e=>r(l(`count`),Bo(e))}),u!==void 0&&U(uo,{label:`rate`,text:$(u),value:mo(u),min:1e5,max:1e8,isLogarithmic:!0,write:yo.rate,change:e=>r(l(`source`,s,`rate`),e)}),U(Jo,{group:e,about:t,path:l,edit:r,refuse:i}),U(uo,{label:`begins at`,text:$(e.start??`0 s`),value:null,min:0,max:1,write:yo.time,change:e=>r(l(`start`),e)})]})}function qo(e){return U(fo,{label:`TCP`,value:Wo(Do(e.group,[`tcp`,`control`]))||`cubic`,options:e.parts.filter(e=>e.kind===`controller`).map(e=>({name:e.name,text:e.name})),change:t=>{let n=e.group.tcp??{};e.edit(e.path(`tcp`),{...n,control:t})}})}function Jo(e){let t=mo(Do(e.about.document,[`link`,`delay`])),n=mo(Do(e.group,[`access`,`delay`]));if(t===null||n===null)return U(uo,{label:`own delay, one way`,text:$(Do(e.group,[`access`,`delay`])),value:null,min:0,max:1,write:yo.time,change:t=>e.edit(e.path(`access`,`delay`),t)});let r=2*t;return U(uo,{label:`RTT without queue`,text:yo.time(r+4*n),value:r+4*n,min:Math.max(.002,r),max:r+.4,isLogarithmic:!0,write:yo.time,change:t=>{let n=mo(t);if(n!==null&&n<r)return e.refuse(`The RTT without queue is \`${t}\`, but the link alone has ${yo.time(r)}; allowed: at least that, or a shorter delay of the link.`);let i=n===null?null:(n-r)/4;return e.edit(e.path(`access`,`delay`),i===null?t:`${Number((i*1e3).toPrecision(4))} ms`)}})}async function Yo(){let e=await(await fetch(`./server.json`)).json();return{hasPlayer:e.hasPlayer===!0,hasKernel:e.hasKernel===!0,scenario:typeof e.scenario==`string`?e.scenario:null}}async function Xo(e,t){if(t(`page`)&&typeof WebAssembly==`object`&&typeof DecompressionStream==`function`)try{return await Qo()}catch(t){if(!e.hasPlayer)throw t}if(!e.hasPlayer)throw Error("this browser has no WebAssembly, and no process serves this page: run `fairwire play`");return $o()}var Zo=new TextDecoder;async function Qo(){let e=new Worker(new URL(new URL(`worker.js`,import.meta.url).href,``+import.meta.url),{type:`module`}),t=new Map,n=0,r=e=>{for(let{reject:n}of t.values())n(Error(e));t.clear()};e.onmessage=({data:e})=>{let n=t.get(e.id);t.delete(e.id),e.isError?n?.reject(Error(Zo.decode(e.bytes))):n?.resolve(e.bytes)},e.onerror=e=>r(`the simulator stopped: ${e.message}`);let i=(r,i)=>new Promise((a,o)=>{n+=1,t.set(n,{resolve:a,reject:o}),e.postMessage({id:n,name:r,input:i===void 0?``:JSON.stringify(i)})});return await i(`catalogue`),{place:`in this page (WebAssembly)`,call:i}}function $o(){let e=crypto.getRandomValues(new Uint32Array(2)).join(`-`);return{place:`in the process that serves this page`,call:async(t,n)=>{let r=n===void 0?``:JSON.stringify(n),i=await fetch(`./player/${e}/${t}`,{method:`POST`,body:r}),a=new Uint8Array(await i.arrayBuffer());if(!i.ok)throw Error(Zo.decode(a));return a}}}async function es(e,t,n){return JSON.parse(Zo.decode(await e.call(t,n)))}var ts=[{name:`lab`,text:`kernel`,dash:[]},{name:`sim`,text:`simulated`,dash:[4,3]}];async function ns(e){let t=await fetch(`./kernel`,{method:`POST`,body:e}),n=await t.text();if(!t.ok)throw Error(n);return n}function rs(e,t){let n=is(e),r=[...new Set(t.flows.map(e=>e.group))];return[...n].map(([e,t])=>{let n=r.flatMap((e,t)=>ts.map(n=>({group:e,colour:t,stage:n})));return{title:`On this machine's kernel, under ${e}`,axis:`rate of each group: kernel, and simulated (dashed)`,series:n.map(({group:e,colour:t,stage:n})=>({name:`${e}, ${n.text}`,colour:t,dash:n.dash})),data:()=>{let e=Float64Array.from(t.times).sort();return[e,...n.map(({group:n,stage:r})=>{let i=t.rates.get(`${r.name} ${n}`);return e.map(e=>i?.get(e)??NaN)})]},format:je}})}function is(e){let t=new Map;for(let n of e.split(`
`).slice(1)){let[e=``,r=``,,i=``,a,o=``,s,,c=``]=n.split(`,`);if(a!==`group`||s!==`egress`)continue;let l=t.get(e)??{times:new Set,rates:new Map};t.set(e,l),l.times.add(Number(i));let u=`${r} ${o}`,d=l.rates.get(u)??new Map;l.rates.set(u,d),d.set(Number(i),Number(c))}return t}var as=e=>e.replace(/[&<>"]/g,e=>({"&":`&amp;`,"<":`&lt;`,">":`&gt;`,'"':`&quot;`})[e]??e),os=880,ss=92,cs=50,ls=156,us=24,ds=18,fs=18,ps=20,ms=6.6,hs=40;function gs(e,t){let n=za(),r=44,i=t.map(e=>{let t=e.kind===`lines`?bs(e.shown,n):e.kind===`bars`?ws(e,n):Ts(e,n),i=t.draw(r);return r+=t.height+fs,i});return`<svg xmlns="http://www.w3.org/2000/svg" width="${os}" height="${r}" viewBox="0 0 ${os} ${r}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${n.card}"/>
${_s(16,28,e,n.text,`font-size="17" font-weight="600"`)}
${i.join(`
`)}
</svg>
`}function _s(e,t,n,r,i=``){return`<text x="${e.toFixed(1)}" y="${t.toFixed(1)}" fill="${r}" ${i}>${as(n)}</text>`}function vs(e,t,n,r){return`${_s(16,n+18,e,r.text,`font-weight="600"`)}
${_s(16,n+35,t,r.faint)}`}function ys(e,t,n){let r=t-e;if(!(r>0))return[e];let i=r/n,a=10**Math.floor(Math.log10(i)),o=[1,2,5,10].map(e=>e*a).find(e=>e>=i*(1-1e-9))??10*a,s=Math.ceil(e/o-1e-9),c=Math.floor(t/o+1e-9)-s+1;return Array.from({length:c},(e,t)=>(s+t)*o)}function bs(e,t){let n=Ss(e.series,t);return{height:230+n.height,draw:r=>{let[i=new Float64Array,...a]=e.data(),o=i[0]??0,s=i[i.length-1]??1,c=0;for(let e of a)for(let t of e)t>c&&(c=t);let l=c*1.06||1,u=r+cs+ls,d=e=>ss+772*(e-o)/(s-o||1),f=e=>u-e/l*ls,p=ys(0,l,4).map(n=>`<line x1="${ss}" x2="864" y1="${f(n).toFixed(1)}" y2="${f(n).toFixed(1)}" stroke="${t.grid}"/>
${_s(84,f(n)+4,Fe(e.format(n)),t.faint,`text-anchor="end"`)}`),m=ys(o,s,8).map(e=>`<line x1="${d(e).toFixed(1)}" x2="${d(e).toFixed(1)}" y1="${u-ls}" y2="${u+4}" stroke="${t.grid}"/>
${_s(d(e),u+17,`${Number(e.toFixed(6))} s`,t.faint,`class="time" text-anchor="middle"`)}`),h=a.map((n,r)=>{let a=e.series[r],[o,s]=xs(a,r,t);return`<path d="${Cs(i,n,d,f)}" fill="none" stroke="${o}" stroke-width="1.5" stroke-dasharray="${s}"/>`});return`${vs(e.title,`${e.axis}; ${o.toFixed(1)} s to ${s.toFixed(1)} s`,r,t)}
${p.join(`
`)}
${m.join(`
`)}
${h.join(`
`)}
${n.draw(u+us)}`}}}function xs(e,t,n){let r=e?.colour??t;return[n.series[r%9]??n.text,(e?.dash??Ba(r)).join(` `)]}function Ss(e,t){let n=[...new Set(e.map(e=>e.group??e.name))],[r,i]=[ss,0],a=n.slice(0,hs).map(n=>{let a=e.findIndex(e=>(e.group??e.name)===n),o=44+n.length*ms;r+o>864&&r>ss&&([r,i]=[ss,i+1]);let s={x:r,row:i,name:n,line:xs(e[a],a,t)};return r+=o,s}),o=n.length-a.length;return{height:(i+1)*ds+(o>0?ds:0),draw:e=>{let n=a.map(({x:n,row:r,name:i,line:[a,o]})=>{let s=e+r*ds+12;return`<line class="key" x1="${n.toFixed(1)}" x2="${(n+26).toFixed(1)}" y1="${s-4}" y2="${s-4}" stroke="${a}" stroke-width="2.5" stroke-dasharray="${o}"/>${_s(n+31,s,i,t.text)}`});return o>0&&n.push(_s(ss,e+(i+1)*ds+12,`and ${o} more`,t.faint)),n.join(`
`)}}}function Cs(e,t,n,r){let i=``,a=!1;for(let o=0;o<t.length;o+=1){let s=t[o]??NaN;Number.isNaN(s)?a=!1:(i+=`${a?`L`:`M`}${n(e[o]??0).toFixed(1)} ${r(s).toFixed(1)}`,a=!0)}return i}function ws(e,t){let{levels:n,share:r,top:i,format:a}=e;return{height:230,draw:o=>{let s=o+cs+ls,c=e=>s-Math.min(e,i)/i*ls,l=658/Math.max(1,n.length),u=Math.max(1,Math.min(60,l*.8)),d=ys(0,i,4).map(e=>`<line x1="${ss}" x2="750" y1="${c(e).toFixed(1)}" y2="${c(e).toFixed(1)}" stroke="${t.grid}"/>
${_s(84,c(e)+4,Fe(a(e)),t.faint,`text-anchor="end"`)}`),f=n.map((e,n)=>{let r=ss+l*(n+.5)-u/2,a=(e,t,n)=>`<rect class="${e}" x="${r.toFixed(1)}" y="${c(t).toFixed(1)}" width="${u.toFixed(1)}" height="${(s-c(t)).toFixed(1)}" ${n}/>`,o=t.series[(e.colour??n)%9]??t.text,d=Math.floor(l/ms),f=e.name.length>d?`${e.name.slice(0,Math.max(0,d-1))}…`:e.name;return`${a(`demand`,Number.isFinite(e.demand)?e.demand:i,`fill="none" stroke="${t.edge}"`)}
${a(`delivered`,e.delivered,`fill="${o}"`)}
${l>=34?_s(r+u/2,s+17,f,t.faint,`text-anchor="middle"`):``}`}),p=r===void 0?``:`<line class="share" x1="${ss}" x2="756" y1="${c(r).toFixed(1)}" y2="${c(r).toFixed(1)}" stroke="${t.share}" stroke-width="2"/>
${_s(760,c(r)-3,`fair share`,t.share)}
${_s(760,c(r)+12,a(r),t.share)}`;return`${vs(e.title,e.about,o,t)}
${d.join(`
`)}
${f.join(`
`)}
${p}`}}}function Ts(e,t){let{columns:n,rows:r,format:i}=e;return{height:cs+(r.length+1)*ps,draw:a=>{let o=Math.min(160,664/Math.max(1,n.length)),s=Math.max(0,...r.flatMap(e=>e.values)),c=e=>200+o*(e+1),l=n.map((e,n)=>_s(c(n)-8,a+cs+14,e,t.text,`text-anchor="end" font-weight="600"`)),u=r.flatMap((e,r)=>{let l=a+cs+(r+1)*ps;return[_s(16,l+14,e.name,t.text),...n.map((n,r)=>{let a=e.values[r]??0,u=s>0?Math.sqrt(a/s)*.45:0;return`<rect x="${(c(r)-o+2).toFixed(1)}" y="${l}" width="${(o-4).toFixed(1)}" height="18" fill="${t.series[0]}" fill-opacity="${u.toFixed(3)}"/>
${_s(c(r)-8,l+14,a===0?`·`:i(a),t.text,`class="cell" text-anchor="end"`)}`})]});return`${vs(e.title,e.about,a,t)}
${l.join(`
`)}
${u.join(`
`)}`}}}var Es={at:0,packets:1,bytes:2,link:3,mean:4,p50:5,p99:6},Ds=7,Os={rate:0,offered:1,dropped:2,window:3},ks=4,As=8e6,js=class{flows;causes;width;rows=0;levels=[];dropped;droppedOf;numbers;constructor(e,t){this.flows=e,this.causes=t,this.width=Ds+t+ks*e,this.numbers=new Float64Array(this.width*1024),this.dropped=new Float64Array(t),this.droppedOf=new Float64Array(e)}add(e){let t=e.length/this.width;this.makeRoom(t),this.numbers.set(e,this.rows*this.width);for(let n=0;n<t;n+=1){let t=n*this.width;for(let n=0;n<this.causes;n+=1)this.dropped[n]=(this.dropped[n]??0)+(e[t+Ds+n]??0);for(let n=0;n<this.flows;n+=1)this.droppedOf[n]=(this.droppedOf[n]??0)+(e[t+this.column(n,Os.dropped)]??0)}this.rows+=t}at(e,t){return this.numbers[e*this.width+t]??NaN}column(e,t){return Ds+this.causes+ks*e+t}makeRoom(e){if((this.rows+e)*this.width>As&&this.rows>1){let e=Math.floor(this.rows/2);this.numbers.copyWithin(0,(this.rows-e)*this.width,this.rows*this.width),this.rows=e}let t=(this.rows+e)*this.width;if(t<=this.numbers.length)return;let n=new Float64Array(Math.max(t,2*this.numbers.length));n.set(this.numbers.subarray(0,this.rows*this.width)),this.numbers=n}from(e){return this.at(this.rows-1,Es.at),Math.max(0,this.rows-Math.round(e/.01),0)}means(e,t,n,r){let i=Math.ceil(t/n)*n,a=Math.max(0,Math.ceil((this.rows-i)/n)),o=new Float64Array(a);for(let e=0;e<a;e+=1)o[e]=this.at(i+e*n,Es.at);return[o,...e.map(e=>this.smoothed(e,i,a,n,r))]}smoothed(e,t,n,r,i){let{numbers:a,width:o}=this,s=new Float64Array(n),c=Math.max(i,r),l=0,u=0,d=Math.max(0,t-c+1),f=d;for(let i=0;i<n;i+=1){let n=t+i*r;for(;f<=n;f+=1){let t=a[f*o+e]??NaN;t===t&&(l+=t,u+=1)}for(;d<=n-c;d+=1){let t=a[d*o+e]??NaN;t===t&&(l-=t,--u)}s[i]=u>0?Math.max(0,l/u):NaN}return s}};function Ms(e,t){let n=new Float64Array(e.buffer,e.byteOffset,e.byteLength/8),r=3;for(let e of t){let t=n[r]??0,i=n[r+2]??0;r+=3,e.levels=Array.from({length:t},(e,t)=>({demand:n[r+3*t]??0,delivered:n[r+3*t+1]??0,share:n[r+3*t+2]??0})),r+=3*t,e.add(n.subarray(r,r+i*e.width)),r+=i*e.width}return{now:n[0]??0,isOver:n[1]===1}}function Ns(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(t),n.download=e,n.click(),setTimeout(()=>URL.revokeObjectURL(n.href),1e4)}async function Ps(e){let t=URL.createObjectURL(new Blob([e],{type:`image/svg+xml`}));try{let e=new Image;e.src=t,await e.decode();let n=document.createElement(`canvas`);return n.width=2*e.width,n.height=2*e.height,n.getContext(`2d`)?.drawImage(e,0,0,n.width,n.height),await new Promise((e,t)=>n.toBlob(n=>n?e(n):t(Error(`the browser makes no PNG of it`))))}finally{URL.revokeObjectURL(t)}}var Fs=e=>/[",]/.test(e)?`"${e.replaceAll(`"`,`""`)}"`:e;function Is(e,{sides:t,eras:n}){let r=e.flows.flatMap(e=>[`${e.name}.rate_bps`,`${e.name}.window_segments`]),i=[[`time_s`,`discipline`,`queue_packets`,`queue_bytes`,`wait_mean_s`,`wait_p50_s`,`wait_p99_s`,...e.causes.map(e=>`drops.${e}`),...r].join(`,`)],a=e=>Number.isNaN(e)?``:String(Number(e.toPrecision(12)));return t.forEach((t,r)=>{let o=n.map(e=>({since:e.since,name:Fs(e.sides[r]??``)})),s=0;for(let n=0;n<t.rows;n+=1){for(;s+1<o.length&&t.at(n,Es.at)>(o[s+1]?.since??0)+1e-9;)s+=1;let r=o[s]?.name??``,c=[Es.packets,Es.bytes,Es.mean,Es.p50,Es.p99].map(e=>a(t.at(n,e))),l=e.causes.map((e,r)=>a(t.at(n,Es.p99+1+r))),u=e.flows.flatMap((e,r)=>[a(t.at(n,t.column(r,Os.rate))),a(t.at(n,t.column(r,Os.window)))]);i.push([a(t.at(n,Es.at)),r,...c,...l,...u].join(`,`))}}),`${i.join(`
`)}\n`}var Ls=Object.assign({"../../../scenarios/exercises/01-buffer.toml":`# The buffer that one flow needs is what the link holds in a round trip.

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
`,"../../../scenarios/exercises/02-two-distances.toml":`# TCP's rate falls with its round trip, unless the queue shares the link.

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
`,"../../../scenarios/exercises/03-a-flood.toml":`# Who does not slow down wins, where packets are dropped without regard to flows.

format = 2
name = "exercise-a-flood"
title = "A flood that RED does not stop"
duration = "40 s"
warm_up = "10 s"
seeds = "1..=2"
disciplines = ["red"]

[lesson]
question = "Nine TCP flows share 10 Mbit/s with a flood of 5 Mbit/s. Find a discipline that leaves TCP nine tenths of its fair share, but keeps no queue for each flow."
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
`,"../../../scenarios/exercises/04-a-polite-flood.toml":`# A sender without congestion control is harmless as long as it sends no more than its share.

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
`,"../../../scenarios/exercises/05-without-loss.toml":`# A mark says what a drop says, and the packet arrives.

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

[discipline.codel]
ecn = "drop"

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
`,"../../../scenarios/exercises/06-a-slow-link.toml":`# On a slow link a short wait is too few packets to keep it busy.

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
tcp = { profile = "ns2-2002", control = "reno", recovery = "sack", segment = "1460 B" }
access = { rate = "100 Mbit/s", delay = "10 ms" }

[[expect]]
measure = "utilization"
min = 0.95
because = "the link is to stay busy"

[[expect]]
measure = "sojourn_mean_s"
max = 0.06
because = "a target of 40 ms, and what PIE misses it by"
`,"../../../scenarios/exercises/07-cubic-and-bbr.toml":`# How two ways to find a link's rate share it depends on the buffer.

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
tcp = { control = "cubic" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[flow]]
group = "bbr"
source = "bulk"
tcp = { control = "bbr" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[expect]]
measure = "share.cubic"
min = 0.8
max = 1.2
because = "half of the link is fair"
`,"../../../scenarios/exercises/08-who-is-a-flow.toml":`# Fair between connections is not fair between people.

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
tcp = { control = "cubic" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[flow]]
group = "single"
class = 1
source = "bulk"
tcp = { control = "cubic" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[expect]]
measure = "fraction.single"
min = 0.4
max = 0.6
because = "hosts share equally"
`,"../../../scenarios/exercises/09-parking-lot.toml":`# What is fair on a network of several full links: max-min.

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
`,"../../../scenarios/exercises/10-warm-up.toml":`# What is measured too early is measured of the start.

format = 2
name = "exercise-warm-up"
title = "When does measuring begin?"
duration = "60 s"
warm_up = "0 s"
seeds = "1..=2"
disciplines = ["drr"]

[lesson]
question = "Two flows share a link fairly under deficit round robin, but Jain's index over the run is far below 1. One of the flows begins after 20 s. When must measuring begin?"
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
`,"../../../scenarios/lessons/01-distance.toml":`# A full buffer refuses everybody alike, and TCP takes longer to come back over a longer way.

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
`,"../../../scenarios/lessons/02-flood.toml":`# RED drops at random, so a flow that does not listen keeps what it sends.

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
`,"../../../scenarios/lessons/03-tokens.toml":`# A bucket for each flow: what has spent its tokens is dropped, at no cost to other flows.

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
`,"../../../scenarios/lessons/04-push-out.toml":`# A full buffer makes room: from the longest queue, or from a random one above its part.

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
`,"../../../scenarios/lessons/05-sample.toml":`# A short memory of arrivals is enough to know who sends too fast.

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
`,"../../../scenarios/lessons/06-edges.toml":`# A contract is kept at the edge: a bucket marks what is within it, and RIO drops the rest first.

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
`,"../../../scenarios/lessons/07-bufferbloat.toml":`# A large buffer is full of what TCP sends to find out that it is large.

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
tcp = { control = "cubic" }
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
`,"../../../scenarios/lessons/08-call.toml":`# A queue of its own is what a sparse flow needs, rather than a short queue for all.

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
tcp = { control = "cubic" }
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
`,"../../../scenarios/lessons/09-cubic-and-bbr.toml":`# Two ways to find the rate of a link do not agree on who has it.

format = 2
name = "lesson-cubic-and-bbr"
title = "CUBIC meets BBR in a small buffer"
duration = "60 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "fq-codel"]

[lesson]
question = "One CUBIC flow and one BBR flow share a link with a small buffer. Who wins?"
look = "CUBIC's window is a saw: a loss leaves 0.7 of it (RFC 9438). BBR keeps to the rate that was delivered, and takes loss for nothing."
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
tcp = { control = "cubic" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[flow]]
group = "bbr"
source = "bulk"
tcp = { control = "bbr" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[expect]]
discipline = "fq-codel"
measure = "share.cubic"
more_than = { discipline = "tail-drop", margin = 0.2 }
because = "each has a queue of its own"
`,"../../../scenarios/lessons/10-many-connections.toml":`# Fair between connections is not fair between people.

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
tcp = { control = "cubic" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[flow]]
group = "single"
class = 1
source = "bulk"
tcp = { control = "cubic" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"

[[expect]]
discipline = "cake-like"
measure = "fraction.single"
min = 0.4
because = "hosts share equally"
`}),Rs=e=>e.includes(`/exercises/`),zs=Object.entries(Ls).sort(([e],[t])=>Number(Rs(e))-Number(Rs(t))||(e<t?-1:1)).map(([e,t])=>({name:`${Rs(e)?`exercise-`:``}${e.replace(/^.*\/(?:\d+-)?/,``).replace(/\.toml$/,``)}`,title:/^title = "(.*)"$/m.exec(t)?.[1]??e,scenario:t,isExercise:Rs(e)})),Bs=e=>zs.find(t=>t.isExercise&&t.name===e)?.name??null,Vs=[.05,.25,1,4,16],Hs=.5,Us=class{door;judges;changed;failed;about=null;sides=[];now=0;isOver=!1;isPlaying=!1;isBusy=!1;isRushing=!1;speed=1;result=null;judging=null;frames=0;eras=[];runs=0;last=0;get judgements(){return this.judging?.judgements??null}constructor(e,t,n,r){this.door=e,this.judges=t,this.changed=n,this.failed=r}async start(e){let t=++this.runs;this.isBusy=!0;try{let n=await es(this.door,`start`,{scenario:e});if(t!==this.runs)return;this.about=n,this.sides=n.sides.map(()=>new js(n.flows.length,n.causes.length)),this.now=0,this.eras=[{since:0,sides:n.sides}],this.isOver=!1,this.isRushing=!1,this.result=null,this.judging=null,this.last=0}finally{t===this.runs&&(this.isBusy=!1),this.changed()}await this.advance(Gs(this.about))}async set(e){for(;this.isBusy;)await new Promise(e=>setTimeout(e,1));this.isBusy=!0;try{return this.about=await es(this.door,`set`,{set:e}),this.eras.push({since:this.now,sides:this.about.sides}),!0}catch(e){if(String(e).includes(`all else needs a new run`))return!1;throw e}finally{this.isBusy=!1,this.changed()}}setPlaying(e){this.isPlaying=e&&!this.isOver,this.isRushing=!1,this.last=0,this.changed()}rush(){this.isPlaying=!this.isOver,this.isRushing=!0,this.changed()}async step(){this.setPlaying(!1),await this.advance(this.now+Gs(this.about))}tick(e){if(!this.isPlaying||this.isBusy||!this.about)return;let t=this.last===0?1/60:Math.min(.1,(e-this.last)/1e3),n=this.isRushing?Hs:Math.min(Hs,t*this.speed),r=Math.min(this.target(e)+n,this.about.duration_s);this.last=e,this.wanted=r,(r-this.now>=this.about.sample_s||r>=this.about.duration_s)&&this.advance(r)}wanted=0;target(e){let t=this.about?.sample_s??.01;return this.wanted>this.now&&this.wanted<this.now+2*t?this.wanted:this.now}async advance(e){if(this.isBusy||!this.about)return;let t=this.runs;this.isBusy=!0;try{let n=await this.door.call(`advance`,{to_s:e+1e-6});if(t!==this.runs)return;let r=Ms(n,this.sides);this.now=r.now,this.frames+=1,r.isOver&&!this.isOver&&await this.end()}catch(e){this.isPlaying=!1,this.failed(String(e instanceof Error?e.message:e))}finally{t===this.runs&&(this.isBusy=!1)}}async end(){this.result=await es(this.door,`result`),this.isOver=!0,this.isPlaying=!1,this.isRushing=!1,this.changed(),this.about?.lesson&&Ws(this.about)&&this.judge(this.about)}async judge({name:e,toml:t}){let n=this.runs,r=e=>n===this.runs&&(this.judging=e,this.changed(),!0);try{await this.judges.judge(t,Bs(e),r)}catch(e){n===this.runs&&this.failed(String(e instanceof Error?e.message:e))}}};function Ws({document:e}){let{expect:t}=e;return Array.isArray(t)&&t.length>0}function Gs(e){return e?.sample_s??.01}var Ks=`holds`,qs=4;function Js(e,t){let n=t??NaN;return Fe(/_bps(\.|$)/.test(e)?je(n,qs):/_s(\.|$)/.test(e)?Me(n,qs):Ae(n,qs))}function Ys({discipline:e,measure:t,min:n,max:r,against:i},a){let o=e=>Js(t,e),s=a||e===``?t:`${e}: ${t}`;if(i){let e=i.measure===t?i.discipline:`${i.measure} of ${i.discipline}`;return`${s} ${i.is_more?`more`:`less`} than ${e}${i.margin>0?`, by over ${o(i.margin)}`:``}`}return n!==null&&r!==null?`${s} from ${o(n)} to ${o(r)}`:n===null?`${s} at most ${o(r??NaN)}`:`${s} at least ${o(n)}`}var Xs=e=>typeof e==`number`?e:null;function Zs(e){return(e.expect??[]).flatMap(e=>{let[t,n,r]=[Xs(e.min),Xs(e.max),String(e.measure)],i={discipline:String(e.discipline??``),measure:r,mean:null,min:null,max:null,against:null,because:String(e.because??``),verdict:null},a=(e,t)=>bo(e)?[{...i,against:{discipline:String(e.discipline),measure:String(e.measure??r),is_more:t,margin:Xs(e.margin)??0}}]:[];return[...t===null&&n===null?[]:[{...i,min:t,max:n}],...a(e.less_than,!1),...a(e.more_than,!0)]})}function Qs({game:e,about:t}){let{judgements:n,judging:r}=e,i=n??Zs(t.document),a=t.disciplines.length===1,o=i.filter(({verdict:e})=>e===Ks).length,s=r?r.of/t.disciplines.length:0;return U(`div`,{class:`expected`,children:[U(`table`,{children:[U(`caption`,{class:`unseen`,children:`what is expected, and what came`}),U(`thead`,{children:U(`tr`,{children:[U(`th`,{scope:`col`,children:`expected`}),U(`th`,{scope:`col`,children:`came`}),U(`th`,{scope:`col`,children:U(`span`,{class:`unseen`,children:`verdict`})})]})}),U(`tbody`,{children:i.map((e,t)=>U(`tr`,{children:[U(`td`,{children:[Ys(e,a),e.because&&U(`span`,{class:`faint small`,children:[`: `,e.because]})]}),U(`td`,{class:`number`,"data-measure":e.measure,"data-value":e.mean??void 0,children:e.verdict===null?``:Js(e.measure,e.mean)}),U(`td`,{children:e.verdict!==null&&U($s,{verdict:e.verdict})})]},t))})]}),U(`p`,{class:`faint small`,role:`status`,children:[n?`${o} of ${i.length} ${i.length===1?`holds`:`hold`}, ${s===1?`in a whole run`:`on average over whole runs of ${s} seeds`}, as by fairwire run.`:r&&`Judging: ${r.done} of ${r.of} whole runs.`,r?.isKept===!1&&` This browser does not keep progress.`]})]})}function $s({verdict:e}){let t=e===Ks;return U(`span`,{class:t?`mark good`:`mark bad`,title:e,children:[U(`span`,{"aria-hidden":`true`,children:t?`✓`:e===`unclear`?`?`:`✗`}),U(`span`,{class:`unseen`,children:e})]})}function ec(e,t){let n=e.disciplines.length===1;return{expectations:t.map(e=>({expected:Ys(e,n),came:e.mean,verdict:e.verdict??``})),when:new Date().toISOString(),scenario:e.toml}}var tc=`fairwire.exercises`,nc=`fairwire.judging`,rc=e=>e.expectations.filter(({verdict:e})=>e===`holds`).length,ic=e=>rc(e)===e.expectations.length;function ac(e){let{expectations:t,when:n,scenario:r}=e??{};return Array.isArray(t)&&t.length>0&&t.every(e=>typeof e?.expected==`string`)&&typeof n==`string`&&typeof r==`string`}function oc(e,t){try{let n=JSON.parse(localStorage.getItem(e)??`{}`);return Object.fromEntries(Object.entries(n??{}).filter(e=>t(e[1])))}catch{return{}}}function sc(e,t){try{return localStorage.setItem(e,JSON.stringify(t)),!0}catch{return!1}}var cc=()=>oc(tc,ac),lc=()=>oc(nc,e=>typeof e==`string`);function uc(e,t){sc(nc,{...lc(),[e]:t})}function dc(e,t){let{[e]:n,...r}=lc();n===t&&sc(nc,r)}function fc(e,t){let n=cc(),r=n[e];return r&&rc(r)/r.expectations.length>rc(t)/t.expectations.length?!0:sc(tc,{...n,[e]:t})}function pc(){try{[tc,nc].forEach(e=>localStorage.removeItem(e))}catch{}}var mc=e=>`${JSON.stringify({format:1,exercises:e},null,2)}\n`,hc=`#exercises`;function gc(){let[,e]=B(0),[t,n]=[cc(),lc()],r=zs.filter(e=>e.isExercise),i=r.filter(({name:e})=>t[e]&&ic(t[e])).length,a=Object.keys(t).length===0;return U(`main`,{class:`play exercises`,children:[U(`header`,{class:`top`,children:[U(`h1`,{children:`Exercises`}),U(`a`,{href:`#`,children:`to the playground`})]}),U(`p`,{role:`status`,children:[i,` of `,r.length,` solved. An exercise is solved when all that it expects came at once.`]}),U(`table`,{children:[U(`caption`,{class:`unseen`,children:`exercises, and what held of each`}),U(`thead`,{children:U(`tr`,{children:[U(`th`,{scope:`col`,children:`exercise`}),U(`th`,{scope:`col`,children:`expected, in the best attempt`}),U(`th`,{scope:`col`,children:`solved`})]})}),U(`tbody`,{children:r.map(({name:e,title:r},i)=>{let a=t[e];return U(`tr`,{children:[U(`th`,{scope:`row`,children:[i+1,`. `,U(`a`,{href:`#lesson=${e}`,children:r})]}),U(`td`,{children:[a?U(`ul`,{children:a.expectations.map(({expected:e,verdict:t})=>U(`li`,{children:[U($s,{verdict:t}),` `,e]},e))}):!n[e]&&U(`span`,{class:`faint`,children:`not run to its end yet`}),n[e]&&U(`span`,{class:`faint`,children:`being judged…`})]}),U(`td`,{children:a?ic(a)?`yes`:`${rc(a)} of ${a.expectations.length}`:`no`})]},e)})})]}),U(`p`,{class:`take`,children:[U(`button`,{type:`button`,disabled:a,onClick:()=>Ns(`fairwire-exercises.json`,new Blob([mc(t)],{type:`application/json`})),children:`Export as JSON`}),U(`button`,{type:`button`,disabled:a,onClick:()=>{confirm(`Clear the progress that this browser keeps? It cannot be brought back.`)&&(pc(),e(e=>e+1))},children:`Clear progress`}),U(`span`,{class:`faint small`,children:`Progress is kept in this browser, for this address, and sent nowhere.`})]})]})}var _c=class{door;changed;last=Promise.resolve();constructor(e,t){this.door=e,this.changed=t,e.catch(()=>{})}resume(){for(let[e,t]of Object.entries(lc()))this.judge(t,e,()=>!0).catch(()=>{})}judge(e,t,n){t&&uc(t,e);let r=this.last.then(()=>this.judged(e,t,n));return this.last=r.catch(()=>{t&&dc(t,e),this.changed()}),r}async judged(e,t,n){let r=await this.door,i=await es(r,`start`,{scenario:e});for(;;){let a=await es(r,`judge`),{judgements:o}=a;t&&o&&o.length>0&&(a.isKept=fc(t,ec(i,o)),dc(t,e));let s=n(a);if(o&&this.changed(),o||!(s||t))return}}};function vc({game:e,about:t,lesson:n,exercise:r,restore:i}){let a=Ws(t);return U(`section`,{class:`card lesson`,"aria-label":`lesson`,children:[U(`h2`,{children:t.title}),U(`p`,{class:`question`,children:zo(n.question)}),n.look&&U(`p`,{class:`faint`,children:zo(n.look)}),a&&U(Qs,{game:e,about:t}),r&&!a&&U(`p`,{class:`refused`,children:`What the exercise expects cannot be judged in this contest: begin as written.`}),i&&U(`p`,{children:[U(`span`,{class:`faint`,children:`You have changed the contest: its numbers are others. `}),U(`button`,{type:`button`,onClick:()=>i(),children:`Begin as written`})]}),e.result?U(yc,{result:e.result,lesson:n,isExercise:r!==null,isJudged:a,isAsWritten:i===null}):U(`p`,{children:U(`button`,{type:`button`,class:`primary`,onClick:()=>e.rush(),disabled:e.isRushing,children:e.isRushing?`${Pe(e.now/t.duration_s,2)} done`:r?`Run to the end`:`Run to the end and answer`})})]})}function yc(e){let{result:t,lesson:n,isExercise:r,isJudged:i,isAsWritten:a}=e;return U(`div`,{class:`answer`,role:`status`,children:[!(r&&i)&&U(`dl`,{children:t.map(e=>{let t=e.measures[n.measure];return U(`div`,{children:[U(`dt`,{children:e.discipline}),U(`dd`,{class:`number`,"data-discipline":e.discipline,"data-measure":n.measure,"data-value":t,children:t===void 0?`–`:Ae(t)})]},e.discipline)})}),U(`p`,{class:`faint small`,children:[U(`code`,{children:n.measure}),`: `,zo(n.reads)]}),r?U(`details`,{children:[U(`summary`,{children:`show an answer`}),U(`p`,{children:zo(n.answer)})]}):a&&U(`p`,{children:zo(n.answer)}),n.figure&&U(`p`,{class:`faint small`,children:[`The same as a figure: `,U(`code`,{children:[`fairwire reproduce `,n.figure]})]})]})}var bc=32768,xc=262144,Sc=async(e,t)=>new Response(new Response(e).body?.pipeThrough(t));async function Cc(e){if(`lesson`in e)return`#lesson=${encodeURIComponent(e.lesson)}`;let t=new Uint8Array(await(await Sc(new TextEncoder().encode(e.scenario),new CompressionStream(`deflate-raw`))).arrayBuffer());return`#scenario=${btoa(String.fromCharCode(...t)).replaceAll(`+`,`-`).replaceAll(`/`,`_`).replaceAll(`=`,``)}`}async function wc(e){let t=e.replace(/^#/,``);if(t===``)return null;let[n,r=``]=t.split(`=`,2);if(n===`lesson`)return{lesson:decodeURIComponent(r)};if(n!==`scenario`)throw Error("it begins with neither `lesson=` nor `scenario=`");if(r.length>bc)throw Error(`it is too long`);try{let e=atob(r.replaceAll(`-`,`+`).replaceAll(`_`,`/`)),t=(await Sc(Uint8Array.from(e,e=>e.charCodeAt(0)),new DecompressionStream(`deflate-raw`))).body;return{scenario:await Ec(t)}}catch(e){throw e instanceof Tc?e:Error(`it is damaged or cut short`)}}var Tc=class extends Error{};async function Ec(e){let t=e?.getReader(),n=new TextDecoder(`utf-8`,{fatal:!0}),r=``;for(;;){let e=await t?.read();if(!e||e.done)return r+n.decode();if(r+=n.decode(e.value,{stream:!0}),r.length>xc)throw await t?.cancel(),new Tc(`it unpacks to too much`)}}var Dc=400,Oc=160,kc=9;function Ac(e){let t=[...new Set(e.flows.map(e=>e.group))],n=e.flows.length>kc;return e.flows.map((e,r)=>{let i=n?t.indexOf(e.group):r;return n?{name:e.name,group:e.group,colour:i,width:1}:{name:e.name,colour:i}})}function jc(e,t){let n=e.from(t.span),r=e.flows>kc?Oc:Dc;return{first:n,stride:Math.max(1,Math.ceil((e.rows-n)/r),Math.ceil(t.span*100/r))}}function Mc(e,t,n){return{title:`Rate of each flow`,axis:`rate, mean of ${n.smooth*10} ms`,series:Ac(e),data:()=>{let{first:r,stride:i}=jc(t,n),a=e.flows.map((e,n)=>t.column(n,Os.rate));return t.means(a,r,i,n.smooth)},format:je}}function Nc(e,t,n){let r=e.flows.map((e,t)=>({flow:e,index:t})).filter(({flow:e})=>e.is_tcp),i=Ac(e);return{title:`Congestion window`,axis:`segments`,series:r.flatMap(({index:e})=>i[e]??[]),data:()=>{let{first:e,stride:i}=jc(t,n),a=r.map(({index:e})=>t.column(e,Os.window));return t.means(a,e,i,1)},format:e=>Ae(e)}}function Pc(e,t,n,r){return{series:e.sides.flatMap((e,t)=>r.map(({suffix:n,dash:r})=>({name:`${e}${n}`,colour:t,dash:r}))),data:()=>{let e=t[0];if(!e)return[new Float64Array];let{first:i,stride:a}=jc(e,n),o=t.map(e=>e.means(r.map(({field:e})=>e),i,a,a));return[o[0]?.[0]??new Float64Array,...o.flatMap(([,...e])=>e)]}}}function Fc(e,t,n){return{title:`Queue`,axis:`packets that wait`,...Pc(e,t,n,[{field:Es.packets,suffix:``,dash:[]}]),format:e=>Ae(e)}}function Ic(e,t,n){return{title:`Delay in the queue`,axis:`per interval: median, and 99th percentile (dashed)`,...Pc(e,t,n,[{field:Es.p50,suffix:` p50`,dash:[]},{field:Es.p99,suffix:` p99`,dash:[4,3]}]),format:Me}}function Lc({game:e,about:t,view:n,version:r,slow:i,kernel:a}){let{sides:o}=e,s={version:r,span:[Math.max(0,e.now-n.span),Math.max(n.span,e.now)],cursor:`play`},c=o.length>1,l=ye(()=>Math.max(...o.map(e=>Bc(e,t,n))),[i]),u=ye(()=>Math.max(...o.map(e=>Vc(e,t,n))),[i]),d=ye(()=>Math.max(...o.map(e=>io(Kc(t,e),Gc(e)))),[i]),f=t.flows.some(e=>e.is_tcp);return U(`div`,{class:c?`pictures two`:`pictures`,children:[o.map((e,n)=>U(qc,{about:t,side:e,index:n,slow:i,top:d},`water ${n}`)),o.map((e,r)=>U(zc,{title:`Rate of each flow`,side:t.sides[r],children:U(Ja,{...Mc(t,e,n),...s,range:[0,l*1.06||1],height:210})},`rates ${r}`)),f&&o.map((e,r)=>U(zc,{title:`Congestion window`,side:t.sides[r],children:U(Ja,{...Nc(t,e,n),...s,range:[0,u*1.06||1],height:170})},`windows ${r}`)),U(zc,{title:`Queue`,children:U(Ja,{...Fc(t,o,n),...s,height:170})}),U(zc,{title:`Delay in the queue`,children:U(Ja,{...Ic(t,o,n),...s,height:170})}),U(Rc,{about:t,kernel:a}),U(Xc,{about:t,sides:o,slow:i})]})}function Rc({about:e,kernel:t}){return ye(()=>t===null?null:U(y,{children:rs(t,e).map(e=>U(zc,{title:e.title,children:U(Ja,{...e,version:0,height:210})},e.title))}),[t,e])}function zc(e){return U(`section`,{class:`card`,children:[U(`header`,{children:U(`h2`,{children:[e.title,e.side&&U(`span`,{class:`side`,children:[` under `,e.side]})]})}),e.children]})}function Bc(e,t,n){let[,...r]=Mc(t,e,n).data();return Math.max(0,...r.map(Hc))}function Vc(e,t,n){let[,...r]=Nc(t,e,n).data();return Math.max(0,...r.map(Hc))}function Hc(e){let t=0;for(let n of e)n>t&&(t=n);return t}function Uc(e){let t=e.levels.filter(e=>e.share>0).map(e=>e.delivered/e.share),n=t.reduce((e,t)=>e+t,0),r=t.reduce((e,t)=>e+t*t,0);return r>0?n*n/(t.length*r):NaN}function Wc(e){let t={flow:0,part:1/0};return e.levels.forEach((e,n)=>{let r=e.share>0?e.delivered/e.share:1/0;r<t.part&&(t={flow:n,part:r})}),t}function Gc(e){let t=e.levels.map(e=>e.share).filter(Number.isFinite);return t.length>0?Math.max(...t):void 0}function Kc(e,t){let n=Ac(e);return t.levels.map((t,r)=>({name:e.flows[r]?.name??``,demand:t.demand,delivered:t.delivered,colour:n[r]?.colour??0}))}function qc(e){let{about:t,side:n,index:r,slow:i,top:a}=e;return ye(()=>{let e=Kc(t,n),i=Gc(n);return U(`section`,{class:`card`,children:[U(`header`,{children:U(`h2`,{children:[`Who gets what `,U(`span`,{class:`side`,children:[`under `,t.sides[r]]})]})}),U(`p`,{class:`faint small`,children:[`last second`,i===void 0?``:`; Jain ${Ae(Uc(n))}`]}),U(ao,{title:`What each flow wants and gets under ${t.sides[r]}`,levels:e,share:i,top:a,format:je,height:190})]})},[i,n,a])}function Jc(e,t){let n=[...new Set(e.flows.map(e=>e.group))],r=e.causes.map((e,t)=>({name:e,index:t})).filter(({index:e})=>t.some(t=>(t.dropped[e]??0)>0)),i=(t,n)=>e.flows.reduce((e,r,i)=>r.group===n?e+(t.droppedOf[i]??0):e,0);return[{title:`Drops by cause`,rows:r.map(({name:e,index:n})=>({name:e,values:t.map(e=>e.dropped[n]??0)}))},{title:`Drops by who sent`,rows:n.map(e=>({name:e,values:t.map(t=>i(t,e))}))}]}var Yc=`packets since the start`;function Xc(e){let{about:t,sides:n,slow:r}=e;return ye(()=>U(`section`,{class:`card wide`,children:[U(`header`,{children:[U(`h2`,{children:`Drops`}),U(`span`,{class:`faint small`,children:Yc})]}),U(`div`,{class:`drops`,children:Jc(t,n).map(({title:e,rows:n})=>U(ze,{title:e,columns:t.sides,rows:n,format:Ne},e))})]}),[r,n])}function Zc({game:e,about:t,view:n,kernel:r}){let{sides:i}=e,a=(e,n)=>`${e} under ${t.sides[n]??``}`,o=Math.max(...i.map(e=>io(Kc(t,e),Gc(e)))),s=(e,t)=>({kind:`lines`,shown:t===void 0?e:{...e,title:a(e.title,t)}}),c=i.map((e,r)=>s(Nc(t,e,n),r));return[...i.map((n,r)=>({kind:`bars`,title:a(`Who gets what`,r),about:`in the second before ${e.now.toFixed(2)} s; outline: what it wants`,levels:Kc(t,n),share:Gc(n),top:o,format:je})),...i.map((e,r)=>s(Mc(t,e,n),r)),...t.flows.some(e=>e.is_tcp)?c:[],s(Fc(t,i,n)),s(Ic(t,i,n)),...r===null?[]:rs(r,t).map(e=>s(e)),...Jc(t,i).map(({title:e,rows:n})=>({kind:`table`,title:e,about:Yc,columns:t.sides,rows:n,format:Ne}))]}var Qc=[2,5,10,30,120],$c=[1,5,10,25,100],el=100,tl=1e3,nl=5;function rl(){let[e,t]=B(null),[n,r]=B([]),[i,a]=B(null),[o,s]=B(``),[c,l]=B(null),[u,d]=B({span:10,smooth:10}),[f,p]=B(null),[m,h]=B(null),[,g]=B(0),_=H(!1),[v,y]=B(location.hash===hc),b=H(null),x=H(!1),S=e=>a({mood:`bad`,text:e}),C=async(e,t,n=!0,r=S)=>{try{return await e.start(t),e.setPlaying(n),!0}catch(e){return r(il(e)),!1}};V(()=>{_.current||(_.current=!0,addEventListener(`hashchange`,()=>void b.current?.()),al(t,r,s,l,a,p,()=>g(e=>e+1),C).catch(e=>S(il(e))))},[]);let w=async(t,n,r=!1,i=S)=>{let a=r?(e?.isPlaying??!1)||(e?.isOver??!1):!Ha();return!e||!await C(e,t,a,i)?!1:(r||l(ol(e,t,n)),h(null),s(n),!0)},T=async(...[e,t,...n])=>await w(e,t,...n)?(history.replaceState(null,``,await Cc(t?{lesson:t}:{scenario:e})),!0):!1;b.current=async()=>{let t=location.hash===hc;if(y(t),x.current=!e&&!t,!e||t)return;a(null);let n=await sl(f?.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,S);await w(n.scenario,n.lesson)},V(()=>{e&&x.current&&b.current?.()},[e]);let E=H(Promise.resolve()),D=(e,t)=>{let n=E.current.then(()=>O(e,t));return E.current=n,n},O=async(t,n)=>{if(!e?.about||t[0]===`flow`&&t.length>1&&Do(e.about.document,t.slice(0,2))===void 0)return!1;a(null);let r=typeof n==`function`?n(e.about.document):n,i=Oo(e.about.document,t,r);try{let n=t[0]===`disciplines`&&Array.isArray(r)&&r.length!==e.about.sides.length;if(r!==void 0&&!n&&!e.isOver&&await e.set([`${t.join(`.`)}=${Co(r)}`])){s(``);let{runs:t}=e;return a({mood:`plain`,text:`Changed at ${e.now.toFixed(2)} s; the run goes on.`,isTrue:()=>e.runs===t&&!e.isOver}),history.replaceState(null,``,await Cc({scenario:e.about.toml})),!0}}catch(e){if(!il(e).includes(`unknown measure`))return k(il(e).replace(/^--set:\d+:\d+: /,``))}let{expect:o,...c}=i;if(!(o!==void 0&&await T(wo(i),``,!0,()=>{}))&&!await T(wo(c),``,!0))return!1;let{runs:l}=e;return a({mood:`plain`,text:`This needs a new run: it began again.`,isTrue:()=>e.runs===l&&e.now<nl&&!e.isOver}),!0},k=e=>(S(e),!1),A=()=>a(e=>e?.isTrue&&!e.isTrue()?null:e),j=e=>{a(null);let t=zs.find(t=>t.name===e);T(t?.scenario??f?.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,t?e:``)};if(v)return U(gc,{});let M=e?.about??null;return U(`main`,{class:`play`,children:[U(`header`,{class:`top`,children:[U(`h1`,{children:`fairwire play`}),U(`label`,{class:`pick`,children:[U(`span`,{class:`unseen`,children:`lesson`}),U(`select`,{value:o,onChange:e=>j(e.currentTarget.value),children:[U(`option`,{value:``,children:`free play`}),[!1,!0].map(e=>U(`optgroup`,{label:e?`exercises`:`lessons`,children:zs.filter(t=>t.isExercise===e).map((e,t)=>U(`option`,{value:e.name,children:[t+1,`. `,e.title]},e.name))},String(e)))]})]}),U(`a`,{href:hc,children:`exercises`}),e&&M&&U(cl,{game:e,view:u,setView:d,clear:()=>a(null),fail:S})]}),i&&U(`p`,{class:i.mood===`bad`?`notice bad`:`notice`,role:`alert`,children:i.text}),e&&M?U(`div`,{class:`body`,children:[U(`aside`,{"aria-label":`the contest`,children:[M.lesson&&U(vc,{game:e,about:M,lesson:M.lesson,exercise:Bs(M.name),restore:c&&M.toml!==c.toml?()=>T(c.scenario,c.name):null}),M.notes.length>0&&U(`ul`,{class:`notes`,"aria-label":`notes on the contest`,children:M.notes.map(e=>U(`li`,{children:zo(e)},e))}),U(ko,{about:M,parts:n,edit:D,refuse:k}),f?.hasKernel&&U(ml,{about:M,setKernel:h,fail:S}),U(hl,{game:e,view:u,kernel:m,lesson:o,fail:S})]}),U(ul,{game:e,view:u,kernel:m,look:A})]}):U(`p`,{class:`faint wait`,children:`The simulator is being loaded…`})]})}function il(e){return e instanceof Error?e.message:String(e)}async function al(e,t,n,r,i,a,o,s){let c=e=>i({mood:`bad`,text:e}),l=await Yo();a(l);let u=()=>Xo(l,e=>e!==`page`||!new URLSearchParams(location.search).has(`process`)),d=await u(),f=new _c(u(),o);f.resume();let p=new Us(d,f,o,c);t(await es(d,`catalogue`));let m=await sl(l.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,c),h=!Ha();await s(p,m.scenario,h)?(n(m.lesson),r(ol(p,m.scenario,m.lesson))):await s(p,l.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,h),e(p)}function ol(e,t,n){return e.about?.lesson?{name:n,scenario:t,toml:e.about.toml}:null}async function sl(e,t){try{let t=location.hash===`#exercises`?null:await wc(location.hash);if(!t)return{scenario:e,lesson:``};if(`scenario`in t)return{scenario:t.scenario,lesson:``};let n=zs.find(e=>e.name===t.lesson);if(n)return{scenario:n.scenario,lesson:n.name};throw Error(`there is no lesson \`${t.lesson}\``)}catch(n){return t(`The address says what to show, but ${il(n)}. This is the contest that the page begins with.`),{scenario:e,lesson:``}}}function cl({game:e,view:t,setView:n,clear:r,fail:i}){let[a,o]=B(e.speed);return U(`div`,{class:`transport controls`,role:`toolbar`,"aria-label":`time`,children:[U(`button`,{type:`button`,class:`primary`,onClick:()=>e.setPlaying(!e.isPlaying),disabled:e.isOver,children:e.isPlaying?`Pause`:`Play`}),U(`button`,{type:`button`,onClick:()=>void e.step(),disabled:e.isOver,children:`Step`}),U(`button`,{type:`button`,onClick:()=>{r(),ll(e).catch(e=>i(il(e)))},children:`Restart`}),U(`label`,{children:[`speed`,` `,U(`select`,{value:a,onChange:t=>{e.speed=Number(t.currentTarget.value),o(e.speed)},children:Vs.map(e=>U(`option`,{value:e,children:e<1?`1/${Math.round(1/e)}`:`${e}×`},e))})]}),U(`label`,{children:[`shows`,` `,U(`select`,{value:t.span,onChange:e=>n({...t,span:Number(e.currentTarget.value)}),children:Qc.map(e=>U(`option`,{value:e,children:[e,` s`]},e))})]}),U(`label`,{children:[`rates over`,` `,U(`select`,{value:t.smooth,onChange:e=>n({...t,smooth:Number(e.currentTarget.value)}),children:$c.map(e=>U(`option`,{value:e,children:[e*10,` ms`]},e))})]})]})}async function ll(e){e.about&&(await e.start(e.about.toml),e.setPlaying(!0))}function ul({game:e,view:t,kernel:n,look:r}){let[i,a]=B(0),[o,s]=B(0);V(()=>{let t=0,n=-1,i=0,o=Ha(),c=l=>{t=requestAnimationFrame(c),e.tick(l);let u=l-i>=(o?tl:el);e.frames===n||o&&!u&&e.isPlaying||(n=e.frames,a(n),(u||!e.isPlaying)&&(i=l,s(n),r()))};return t=requestAnimationFrame(c),()=>cancelAnimationFrame(t)},[e]);let{about:c}=e;return!c||e.sides.length===0?null:U(`div`,{class:`right`,children:[U(`p`,{class:`says`,children:[U(`span`,{class:`clock number`,"data-now":e.now,children:[e.now.toFixed(2),` s`]}),` `,`of `,Me(c.duration_s),`; simulated `,e.door.place,`, seed `,c.seed,`.`,` `,c.sides.map((t,n)=>{let r=e.sides[n];return r?U(`span`,{children:[U(`strong`,{children:t}),`: `,Gc(r)===void 0?`no fair share is worked out for this contest`:pl(c,r),`.`,` `]},t):null}),e.isOver&&U(`strong`,{children:`The run is at its end.`})]}),U(Lc,{game:e,about:c,view:t,version:i,slow:o,kernel:n})]})}var dl=.6,fl=.9;function pl(e,t){let n=Uc(t);if(Number.isNaN(n))return`nothing was sent in the last second`;let r=Wc(t),i=`${e.flows[r.flow]?.name??``} has ${Pe(r.part)} of its fair share`;return`${r.part>=fl?`fair in the last second`:r.part>=dl?`nearly fair: ${i}`:`unfair: ${i}`} (Jain ${Ae(n)})`}function ml(e){let[t,n]=B(!1),r=async()=>{n(!0);try{e.setKernel(await ns(e.about.toml))}catch(t){e.fail(`The contest could not run on this machine's kernel.\n${il(t)}`)}finally{n(!1)}};return U(`fieldset`,{class:`take`,children:[U(`legend`,{children:`On this machine's kernel`}),U(`button`,{type:`button`,disabled:t,onClick:()=>void r(),children:t?`Running…`:`Run it between real sockets`}),U(`span`,{class:`faint small`,children:`ten seconds for each discipline; needs root or user namespaces`})]})}function hl(e){let{game:t,view:n,kernel:r,lesson:i,fail:a}=e,{about:o}=t;if(!o)return null;let s=()=>gs(o.title||o.name,Zc({game:t,about:o,view:n,kernel:r})),{name:c}=o,l=(e,t)=>new Blob([e],{type:t}),u=async()=>{i===``&&history.replaceState(null,``,await Cc({scenario:o.toml})),await navigator.clipboard.writeText(location.href)};return U(`fieldset`,{class:`take`,children:[U(`legend`,{children:`Take along`}),U(`button`,{type:`button`,onClick:()=>Ns(`${c}.toml`,l(o.toml,`text/plain`)),children:`Scenario`}),U(`button`,{type:`button`,onClick:()=>Ns(`${c}.csv`,l(Is(o,t),`text/csv`)),children:`CSV`}),U(`button`,{type:`button`,onClick:()=>Ns(`${c}.svg`,l(s(),`image/svg+xml`)),children:`SVG`}),U(`button`,{type:`button`,onClick:()=>void Ps(s()).then(e=>Ns(`${c}.png`,e)).catch(e=>a(il(e))),children:`PNG`}),U(`button`,{type:`button`,onClick:()=>void u().catch(e=>a(il(e))),children:`Copy address`})]})}var gl=document.getElementById(`page`);gl&&(gl.replaceChildren(),I(U(rl,{}),gl));
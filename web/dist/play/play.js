var e,t,n,r,i,a,o,s,c,l,u=Symbol.for(`pv`),d={},f=[],p=/^m(i|n|o|s|text|space)$/,m=Array.isArray,h=f.slice,g=Object.assign;function _(e){e&&e.parentNode&&e.remove()}function v(n,r,i,a,o){var s={type:n,props:r,key:i,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:u,__v:o||++t,__i:-1,__u:0};return!o&&e.vnode&&e.vnode(s),s}function y(e){return e.children}function b(e,t){this.props=e,this.context=t,this.__g=0}function x(e,t){if(t==null)return e.__&&x(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!=`function`||e.props.__P?null:x(e)}function S(t){var n,r=t.__v,i=r.__e,a=[],o=[],s=t.__P;s&&((n=g({constructor:u},r)).__v=r.__v+1,e.vnode&&e.vnode(n),te(s,n,r,t.__n,s.namespaceURI,32&r.__u?[i]:null,a,i||x(r),32&r.__u,o),n.__v=r.__v,n.__.__k[n.__i]=n,ie(a,n,o),r.__=r.__e=null,n.__e!=i&&C(n))}function C(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),C(e)}function w(t){(8&t.__g||(t.__g|=8,n.push(t),i++))&&r==e.debounceRendering||((r=e.debounceRendering)||queueMicrotask)(T)}function T(){try{for(var e,t=1;n.length;)n.length>t&&n.sort(a),e=n.shift(),t=n.length,8&e.__g&&S(e)}finally{(i=n.length)&&(r||queueMicrotask)(T)}}function E(e,t,n,r,i,a,o,s,c,l,u){var p,m,h,g,_,v,y=r.__k||f,b=t.length;for(c=D(n,t,y,c,b),p=0;p<b;p++)(h=n.__k[p])!=null&&(m=~h.__i&&y[h.__i]||d,h.__i=p,v=te(e,h,m,i,a,o,s,c,l,u),g=h.__e,(m.ref!=h.ref||8&m.__u)&&(m.ref&&M(m.ref,null,h,m),h.ref&&u.push(h.ref,h.__c||g,h)),_||=g,4&h.__u?(c=O(h,c,e,!m.__v),m.__e&&(m.__e=null)):typeof h.type==`function`&&v!==void 0?c=v:g&&(c=g.nextSibling),h.__u&=-21);return n.__e=_,c}function D(e,t,n,r,i){var a,o,s,c,l,d,f,p,h,g=n.length,_=g,b=0,S=0,C=e.__k=Array(i);for(a=0;a<i;a++)(o=t[a])!=null&&typeof o!=`boolean`&&typeof o!=`function`?(typeof o!=`object`||o.constructor===String?o=C[a]=v(null,o):m(o)?o=C[a]=v(y,{children:o}):o.constructor===u&&o.__b?o=C[a]=v(o.type,o.props,o.key,o.ref,o.__v):C[a]=o,c=a+b,o.__=e,o.__b=e.__b+1,s=null,~(l=o.__i=k(o,n,c,_))&&(_--,(s=n[l])&&(s.__u|=2)),s&&s.__v?(o.__u|=16,l==c-1?b--:l==c+1?b++:l!=c&&(l>c?b--:b++,S=1)):(~l||(i>g?b--:i<g&&b++),typeof o.type!=`function`&&(o.__u|=4))):C[a]=null;if(S){for(d=[],f=[],a=0;a<i;a++)if((o=C[a])&&16&o.__u){for(b=0,p=d.length;b<p;)d[h=b+p>>1]<o.__i?b=h+1:p=h;d[b]=o.__i,f[a]=b+1}for(b=d.length;a--;)f[a]&&(f[a]==b?b--:C[a].__u|=4)}if(_)for(a=0;a<g;a++)!(s=n[a])||2&s.__u||(s.__e==r&&(r=x(s)),N(s,s));return r}function O(e,t,n,r){var i,a,o,s;if(typeof e.type==`function`){if(e.props.__P)return t;if(i=e.__k)for(a=0;a<i.length;a++)i[a]&&(i[a].__=e,t=O(i[a],t,n,!1));return t}for(t&&!t.parentNode&&(t=x(e))&&!t.parentNode&&(t=null),o=e.__e,s=t;s&&s.nodeType==8;)s=s.nextSibling;for(o!=s&&(!r&&n.moveBefore&&o.parentNode?n.moveBefore(o,t):n.insertBefore(o,t||null)),t=o;(t&&=t.nextSibling)&&t.nodeType==8&&!t.data.startsWith(`$s`););return t}function k(e,t,n,r){var i,a=e.key,o=e.type,s=t[n],c=s&&!(2&s.__u);if(s===null&&a==null||c&&a==s.key&&o==s.type)return n;if(r>+!!c){for(i=n-1;i>=0;i--)if((s=t[i])&&!(2&s.__u)&&a==s.key&&o==s.type)return i;for(i=n+1;i<t.length;i++)if((s=t[i])&&!(2&s.__u)&&a==s.key&&o==s.type)return i}return-1}function A(e,t,n){n??=``,t[0]==`-`?e.setProperty(t,n):e[t]=n}function j(e,t,n,r,i){var a,o;if(t==`style`){if(typeof n==`string`)e.style.cssText=n;else{if(typeof r==`string`&&(e.style.cssText=r=``),r)for(t in r)n&&t in n||A(e.style,t);if(n)for(t in n)r&&n[t]==r[t]||A(e.style,t,n[t])}}else if(t[0]==`o`&&t[1]==`n`)typeof n!=`function`&&(n=null),typeof r!=`function`&&(r=null),(e.__e||={})[t]=n,n&&r||(o=l[t]||(l[t]=ee(t)),(e.__a||={})[t]=c,a=t!=(t=t.replace(s,`$1`)),(t=t.slice(2))[0]<`a`&&(t=t.toLowerCase()),n?e.addEventListener(t,o,a):e.removeEventListener(t,o,a));else{if(i==`http://www.w3.org/2000/svg`)t=t.replace(/xlink(H|:h)/,`h`).replace(/sName$/,`s`);else if(t!=`width`&&t!=`height`&&t!=`href`&&t!=`list`&&t!=`form`&&t!=`tabIndex`&&t!=`download`&&t!=`rowSpan`&&t!=`colSpan`&&t!=`role`&&t!=`popover`&&t in e)try{e[t]=n??``;return}catch{}if(typeof n==`function`)return;n==null||!1===n&&t[4]!=`-`?e.removeAttribute(t):e.setAttribute(t,t==`popover`&&n==1?``:n)}}function ee(t){return function(n){var r=this.__e;if(r){if(r=r[t],n[o]==null)n[o]=c++;else if(n[o]<this.__a[t])return;return r(e.event?e.event(n):n)}}}function te(t,n,r,i,a,o,s,c,l,d){var p,h,v,S,C,w,T,D,O,k,A,j,ee,te,ie,M,F,I,L=n.type;if(n.constructor!==u)return null;128&r.__u&&(l=32&r.__u,p=r.__c.__z)&&(n.__u|=l,h=o=[],p.nodeType==8?c=ne(p,o):o.push(p),c=o[0]||c),(p=e.__b)&&p(n);n:if(typeof L==`function`){v=s.length;try{if(D=n.props,O=(p=L.prototype)&&p.render,k=(p=L.contextType)&&i[p.__c],A=p?k?k.props.value:p.__:i,(S=r.__c)?(n.__c=S,2&S.__g&&(S.__g|=1)):(O?n.__c=S=new L(D,A):(n.__c=S=new b(D,A),S.constructor=L,S.render=P),k&&k.sub(S),S.state||(S.state={}),S.__n=i,S.__g|=8,S.__h=[],S.__k=[]),O&&(S.__s||(S.__s=S.state),L.getDerivedStateFromProps&&(S.__s==S.state&&(S.__s=g({},S.__s)),g(S.__s,L.getDerivedStateFromProps(D,S.__s)))),C=S.props,w=S.state,S.__v=n,r.__c){if(D!==C&&O&&!L.getDerivedStateFromProps&&S.componentWillReceiveProps&&S.componentWillReceiveProps(D,A),n.__v==r.__v&&!(8&S.__g)||!(4&S.__g)&&S.shouldComponentUpdate&&!1===S.shouldComponentUpdate(D,S.__s,A)){n.__v!=r.__v&&(S.props=D,S.state=S.__s,S.__g&=-9),n.__e=r.__e,n.__k=r.__k,n.__k.some(function(e){e&&(e.__=n)}),f.push.apply(S.__h,S.__k),S.__k=[],S.__h.length&&s.push(S),c=x(r);break n}S.componentWillUpdate&&S.componentWillUpdate(D,S.__s,A),O&&S.componentDidUpdate&&S.__h.push(function(){S.componentDidUpdate(C,w,T)})}else O&&!L.getDerivedStateFromProps&&S.componentWillMount&&S.componentWillMount(),O&&S.componentDidMount&&S.__h.push(S.componentDidMount);S.context=A,S.props=D,S.__P=t,S.__g&=-5,j=e.__r,ee=O?25:0;do S.__g&=-9,j&&j(n),p=S.render(S.props,S.state=S.__s,S.context);while(8&S.__g&&++ee<25);O&&(f.push.apply(S.__h,S.__k),S.__k=[]),S.state=S.__s,S.getChildContext&&(i=g({},i,S.getChildContext())),O&&r.__c&&S.getSnapshotBeforeUpdate&&(T=S.getSnapshotBeforeUpdate(C,w)),te=p&&p.type===y&&p.key==null?p.props.children:p,D.__P&&(p=c,a=(t=D.__P).namespaceURI,l=o=null,r.props&&r.props.__P!=t&&(r.__k.some(function(e){e&&N(e,e)}),r.__k=null),c=r.__k?x(r,0):null),c=E(t,m(te)?te:[te],n,r,i,a,o,s,c,l,d),D.__P&&(n.__e=null,c=p),n.__u&=-161,h&&h.some(_),S.__h.length&&s.push(S),1&S.__g&&(S.__g&=-4)}catch(t){if(s.length=v,n.__v=null,l||o){if(t&&t.then){if(n.__u|=128|l,o){for(~(F=o.indexOf(c||void 0))||(F=o.length);(I=o[F-1])&&I.nodeType==8;)F--;for(;F<o.length;F++)if(I=o[F]){if(o[F]=null,ie){if(I==M)break}else{if(I.nodeType!=8)break;I.data.startsWith(`$s`)&&(M=ne(ie=I))}}}if(!ie){for(;c&&c.nodeType==8&&c.nextSibling;)c=c.nextSibling;ie=c}(p=ne(ie=n.__c.__z||(n.__c.__z=ie)))?(n.__e=ie,c=p):n.__e=c,c&&=c.nextSibling}else o&&o.some(_)}else n.__e=r.__e;n.__k||=r.__k||[],t&&t.then||re(n),e.__e(t,n,r)}}else c=n.__e=ae(r.__e,n,r,i,a,o,s,l,d,t);return(p=e.diffed)&&p(n),c}function ne(e,t){if(e&&e.nodeType==8&&e.data.startsWith(`$s`))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith(`$s`))n++;else if(e.data.startsWith(`/$s`)&&!--n)return e}t&&t.push(e)}}function re(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(re))}function ie(t,n,r){for(var i=0;i<r.length;)M(r[i++],r[i++],r[i++]);e.__c&&e.__c(n,t),t.some(function(n){try{t=n.__h,n.__h=[],t.some(function(e){e.call(n)})}catch(t){e.__e(t,n.__v)}})}function ae(t,n,r,i,a,o,s,c,l,u){var f,g,v,y,b,S,C,w,T=r.props||d,D=n.props,O=n.type;if(O==`svg`?a=`http://www.w3.org/2000/svg`:O==`math`?a=`http://www.w3.org/1998/Math/MathML`:a||=`http://www.w3.org/1999/xhtml`,o){for(f=0;f<o.length;f++)if((b=o[f])&&(O?b.localName==O:b.nodeType==3)){t=b,o[f]=null;break}}if(!t){if(w=u.ownerDocument||document,!O)return w.createTextNode(D);t=w.createElementNS(a,O,D.is?D:u),c&&=(e.__m&&e.__m(n,o),!1),o=null}if(O){if(u=O==`template`&&t.content||t,o=O==`textarea`&&D.defaultValue!=null?null:o&&h.call(u.childNodes),!c&&o)for(T={},f=0;f<t.attributes.length;f++)T[(b=t.attributes[f]).name]=b.value;for(f in T)b=T[f],f==`dangerouslySetInnerHTML`?v=b:f==`children`||f in D||f==`value`&&`defaultValue`in D||f==`checked`&&`defaultChecked`in D||j(t,f,null,b,a);for(f in D)b=D[f],f==`children`?y=b:f==`dangerouslySetInnerHTML`?g=b:f==`value`?S=b:f==`checked`?C=b:c&&typeof b!=`function`||T[f]===b||j(t,f,b,T[f],a);g?(c||v&&(g.__html==v.__html||g.__html==t.innerHTML)||(t.innerHTML=g.__html),n.__k=[]):(v&&(t.textContent=``),(O==`foreignObject`||a==`http://www.w3.org/1998/Math/MathML`&&p.test(O))&&(a=`http://www.w3.org/1999/xhtml`),E(u,m(y)?y:[y],n,r,i,a,o,s,o?o[0]:r.__k&&x(r,0),c,l),o&&o.some(_)),c&&O!=`textarea`||(f=`value`,O==`progress`&&S==null?t.removeAttribute(f):S==null||S===t[f]&&(O!=`progress`||S)||j(t,f,S,T[f],a),f=`checked`,C!=null&&C!=t[f]&&j(t,f,C,T[f],a))}else T===D||c&&t.data==D||(t.data=D);return t}function M(t,n,r,i){try{typeof t==`function`?n?n.__x=t(n)||1:(i&&=i.__c||i.__e)&&(n=i.__x)&&(i.__x=null,typeof n==`function`?n():t(null)):t.current=n}catch(t){e.__e(t,r)}}function N(t,n,r){var i,a,o,s;if(e.unmount&&e.unmount(t),!(i=t.ref)||i.current&&i.current!=t.__e||M(i,null,n,t),i=t.__c){if(i.componentWillUnmount)try{i.componentWillUnmount()}catch(t){e.__e(t,n)}i.__P=i.__n=null}if(i=t.__k)for(s=0;s<i.length;s++)i[s]&&N(i[s],n,typeof t.type!=`function`||r&&!t.props.__P);!r&&(i=t.__c)&&(i=i.__z)&&(a=ne(i,o=[]))&&(i==t.__e&&o.some(_),_(a),_(i)),r||_(t.__e),t.__e=t.__c=t.__=null}function P(e,t,n){return this.constructor(e,n)}function F(t,n){var r,i,a,o;e.__&&e.__(t,n),n.nodeType==9&&(n=n.documentElement),i=(r=t&&32&t.__u)?null:n.__k,n.__k=v(y,{children:[t]}),a=[],o=[],te(n,n.__k,i||d,d,n.namespaceURI,i?null:n.firstChild?h.call(n.childNodes):null,a,i?i.__e:n.firstChild,r,o),ie(a,n.__k,o),n.__k.props.children=null}e={__e:function(e,t,n,r){for(var a,o,s;t=t.__;)if((a=t.__c)&&!(1&a.__g)){a.__g|=4;try{if((s=(o=a.constructor)&&o.getDerivedStateFromError)&&a.setState(o.getDerivedStateFromError(e)),a.componentDidCatch&&(a.componentDidCatch(e,r||{}),s=1),s&&8&a.__g)return void(a.__g|=2)}catch(t){e=t}}throw i=0,e}},t=0,b.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=g({},this.state)),typeof e==`function`&&(e=e(g({},n),this.props)),e&&(g(n,e),this.__v&&(t&&this.__k.push(t),w(this)))},b.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),w(this))},b.prototype.render=y,n=[],i=0,a=function(e,t){return e.__v.__b-t.__v.__b},o=Symbol(),s=/(PointerCapture)$|Capture$/i,c=0,l={};var I,L,oe,se,ce=Object.is,le=0,ue=[],de=[],R=e,fe=R.__b,pe=R.__r,me=R.diffed,he=R.__c,ge=R.unmount,_e=R.__;function ve(e,t){R.__h&&R.__h(L,e,le||t),le=0;var n=L.__H||(L.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function z(e){return le=1,ye(Oe,e)}function ye(e,t,n){var r=ve(I++,2);if(r.t=e,!r.__c&&(r.__=[n?n(t):Oe(void 0,t),function(e){var t=(r.__N||r.__)[0],n=r.t(t,e);ce(t,n)||(r.__N=[n,r.__[1]],r.__c.setState({}))}],r.__c=L,!L.__f)){L.__f=!0;var i=L.shouldComponentUpdate;L.shouldComponentUpdate=function(e,t,n){var r=this.__H;if(!r)return!0;var a=!1,o=this.props!=e;if(r.__.some(function(e){e.__N&&(a=!0,ce(e.__[0],e.__N[0])||(o=!0))}),i){var s=i.call(this,e,t,n);return a?s||o:s}return!a||o}}return r.__}function B(e,t){var n=ve(I++,3);!R.__s&&De(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,L.__H.__h.push(n))}function V(e){return le=5,be(function(){return{current:e}},[])}function be(e,t){var n=ve(I++,7);return De(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function xe(){var e;do{for(;e=de.shift();)try{Te(e)}catch(t){R.__e(t,{__:(e=e.__P)&&e.__v})}for(;e=ue.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(Te),t.__h.some(Ee),t.__h=[]}catch(n){t.__h=[],R.__e(n,e.__v)}}}while(de.length)}R.__b=function(e){L=null,fe&&fe(e)},R.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),_e&&_e(e,t)},R.__r=function(e){pe&&pe(e),I=0;var t=(L=e.__c).__H;t&&(oe==L?L.__h=[]:(t.__h.some(Te),t.__h.some(Ee),I=0),t.__h=[],t.__.some(function(e){e.__N&&(e.__=e.__N),e.u=e.__N=void 0})),oe=L},R.diffed=function(e){me&&me(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&we(ue.push(t)),t.__H.__.some(function(e){e.u&&(e.__H=e.u)})),oe=L=null},R.__c=function(e,t){t.some(function(e){try{e.__h.some(Te),e.__h=e.__h.filter(function(e){return!e.__||Ee(e)})}catch(t){e.__h=[function(){throw t}]}}),he&&he(e,t)},R.unmount=function(e){ge&&ge(e);var t,n,r=e.__c;r&&r.__H&&(r.__H.__.some(function(r){try{if(r.__P&&r.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n&&=n.__c}r.__P=n,we(de.push(r))}else Te(r)}catch(e){t=e}}),r.__H=void 0,t&&R.__e(t,r.__v))};var Se=typeof requestAnimationFrame==`function`;function Ce(e){var t,n=function(){clearTimeout(r),Se&&cancelAnimationFrame(t),setTimeout(e)},r=setTimeout(n,35);Se&&(t=requestAnimationFrame(n))}function we(e){e!=1&&se==R.requestAnimationFrame||((se=R.requestAnimationFrame)||Ce)(xe)}function Te(e){var t=L,n=e.__c;typeof n==`function`&&(e.__c=void 0,n()),L=t}function Ee(e){var t=L;e.__c=e.__(),L=t}function De(e,t){return!e||e.length!=t.length||t.some(function(t,n){return!ce(t,e[n])})}function Oe(e,t){return typeof t==`function`?t(e):t}var ke=[``,`k`,`M`,`G`,`T`];function Ae(e,t,n){let r=0,i=Math.abs(e);for(;i>=999.5&&r<ke.length-1;)i/=1e3,r+=1;return`${je(e<0?-i:i,n)} ${ke[r]??``}${t}`}function je(e,t=3){if(!Number.isFinite(e))return`–`;if(e===0)return`0`;let n=Math.floor(Math.log10(Math.abs(e)))+1;return e.toFixed(Math.max(0,Math.min(6,t-n)))}function Me(e,t=3){return Number.isFinite(e)?Ae(e,`bit/s`,t):`–`}function Ne(e,t=3){if(!Number.isFinite(e))return`–`;let n=Math.abs(e);return n>=1||n===0?`${je(e,t)} s`:n>=.001?`${je(e*1e3,t)} ms`:`${je(e*1e6,t)} µs`}function Pe(e){return Number.isFinite(e)?Math.round(e).toString().replace(/\B(?=(\d{3})+$)/g,` `):`–`}function Fe(e,t=3){return Number.isFinite(e)?`${je(e*100,t)} %`:`–`}function Ie(e){return e.replace(/(\.\d*?)0+(?=\D|$)/,`$1`).replace(/\.(?=\D|$)/,``)}var Le=Symbol.for(`pv`),Re=0;Array.isArray;function H(t,n,r,i,a,o){n||={};var s,c,l=n;if(`ref`in l&&typeof t!=`function`)for(c in l={},n)c==`ref`?s=n[c]:l[c]=n[c];var u={type:t,props:l,key:r,ref:s,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Le,__v:--Re,__i:-1,__u:0};return(a||o)&&(u.__source=a,u.__self=o),e.vnode&&e.vnode(u),u}var ze=9;function Be(e){let t=Math.max(0,...e.rows.flatMap(e=>e.values));return H(`div`,{class:`heat-map`,role:`region`,"aria-label":e.title,tabIndex:0,children:H(`table`,{children:[H(`caption`,{class:`unseen`,children:e.title}),H(`thead`,{children:H(`tr`,{children:[H(`td`,{}),e.columns.map(e=>H(`th`,{scope:`col`,children:e},e))]})}),H(`tbody`,{children:e.rows.map(n=>H(`tr`,{children:[H(`th`,{scope:`row`,children:n.name}),e.columns.map((r,i)=>{let a=n.values[i]??0,o=a===0?`·`:e.format(a);return H(`td`,{class:`shade-${Ve(a,t)}`,children:e.onPick&&a>0?H(`button`,{type:`button`,onClick:()=>e.onPick?.(n.name,r),children:o}):o},r)})]},n.name))})]})})}function Ve(e,t){return e<=0||t<=0?0:Math.max(1,Math.round(ze*Math.sqrt(e/t)))}var He=!0,Ue=`uplot`,We=`u-hz`,Ge=`u-vt`,Ke=`u-title`,qe=`u-wrap`,Je=`u-under`,Ye=`u-over`,Xe=`u-axis`,Ze=`u-off`,Qe=`u-select`,$e=`u-cursor-x`,et=`u-cursor-y`,tt=`u-cursor-pt`,nt=`u-legend`,rt=`u-live`,it=`u-inline`,at=`u-series`,ot=`u-marker`,st=`u-label`,ct=`u-value`,lt=`width`,ut=`height`,dt=`top`,ft=`bottom`,pt=`left`,mt=`right`,ht=`#000`,gt=`#0000`,_t=`mousemove`,vt=`mousedown`,yt=`mouseup`,bt=`mouseenter`,xt=`mouseleave`,St=`dblclick`,Ct=`resize`,wt=`scroll`,Tt=`change`,Et=`dppxchange`,Dt=`--`,Ot=typeof window<`u`,kt=Ot?document:null,At=Ot?window:null,jt=Ot?navigator:null,U,Mt;function Nt(){let e=devicePixelRatio;U!=e&&(U=e,Mt&&qt(Tt,Mt,Nt),Mt=matchMedia(`(min-resolution: ${U-.001}dppx) and (max-resolution: ${U+.001}dppx)`),Kt(Tt,Mt,Nt),At.dispatchEvent(new CustomEvent(Et)))}function Pt(e,t){if(t!=null){let n=e.classList;!n.contains(t)&&n.add(t)}}function Ft(e,t){let n=e.classList;n.contains(t)&&n.remove(t)}function W(e,t,n){e.style[t]=n+`px`}function It(e,t,n,r){let i=kt.createElement(e);return t!=null&&Pt(i,t),n?.insertBefore(i,r),i}function Lt(e,t){return It(`div`,e,t)}var Rt=new WeakMap;function zt(e,t,n,r,i){let a=`translate(`+t+`px,`+n+`px)`;a!=Rt.get(e)&&(e.style.transform=a,Rt.set(e,a),t<0||n<0||t>r||n>i?Pt(e,Ze):Ft(e,Ze))}var Bt=new WeakMap;function Vt(e,t,n){let r=t+n;r!=Bt.get(e)&&(Bt.set(e,r),e.style.background=t,e.style.borderColor=n)}var Ht=new WeakMap;function Ut(e,t,n,r){let i=t+``+n;i!=Ht.get(e)&&(Ht.set(e,i),e.style.height=n+`px`,e.style.width=t+`px`,e.style.marginLeft=r?-t/2+`px`:0,e.style.marginTop=r?-n/2+`px`:0)}var Wt={passive:!0},Gt={...Wt,capture:!0};function Kt(e,t,n,r){t.addEventListener(e,n,r?Gt:Wt)}function qt(e,t,n,r){t.removeEventListener(e,n,Wt)}Ot&&Nt();function Jt(e,t,n,r){let i;n||=0,r||=t.length-1;let a=r<=2147483647;for(;r-n>1;)i=a?n+r>>1:hn((n+r)/2),t[i]<e?n=i:r=i;return e-t[n]<=t[r]-e?n:r}function Yt(e){return(t,n,r)=>{let i=-1,a=-1;for(let a=n;a<=r;a++)if(e(t[a])){i=a;break}for(let i=r;i>=n;i--)if(e(t[i])){a=i;break}return[i,a]}}var Xt=e=>e!=null,Zt=e=>e!=null&&e>0,G=Yt(Xt),Qt=Yt(Zt);function $t(e,t,n,r=0,i=!1){let a=i?Qt:G,o=i?Zt:Xt;[t,n]=a(e,t,n);let s=e[t],c=e[t];if(t>-1){if(r==1)s=e[t],c=e[n];else if(r==-1)s=e[n],c=e[t];else for(let r=t;r<=n;r++){let t=e[r];o(t)&&(t<s?s=t:t>c&&(c=t))}}return[s??q,c??-q]}function en(e,t,n,r){let i=xn(e),a=xn(t);e==t&&(i==-1?(e*=n,t/=n):(e/=n,t*=n));let o=n==10?Sn:Cn,s=i==1?hn:_n,c=a==1?_n:hn,l=s(o(mn(e))),u=c(o(mn(t))),d=bn(n,l),f=bn(n,u);return n==10&&(l<0&&(d=Y(d,-l)),u<0&&(f=Y(f,-u))),r||n==2?(e=d*i,t=f*a):(e=zn(e,d),t=Rn(t,f)),[e,t]}function tn(e,t,n,r){let i=en(e,t,n,r);return e==0&&(i[0]=0),t==0&&(i[1]=0),i}var nn=.1,rn={mode:3,pad:nn},an={pad:0,soft:null,mode:0},on={min:an,max:an};function sn(e,t,n,r){return Xn(n)?ln(e,t,n):(an.pad=n,an.soft=r?0:null,an.mode=r?3:0,ln(e,t,on))}function K(e,t){return e??t}function cn(e,t,n){for(t=K(t,0),n=K(n,e.length-1);t<=n;){if(e[t]!=null)return!0;t++}return!1}function ln(e,t,n){let r=n.min,i=n.max,a=K(r.pad,0),o=K(i.pad,0),s=K(r.hard,-q),c=K(i.hard,q),l=K(r.soft,q),u=K(i.soft,-q),d=K(r.mode,0),f=K(i.mode,0),p=t-e,m=Sn(p),h=yn(mn(e),mn(t)),g=mn(Sn(h)-m);(p<1e-24||g>10)&&(p=0,(e==0||t==0)&&(p=1e-24,d==2&&l!=q&&(a=0),f==2&&u!=-q&&(o=0)));let _=p||h||1e3,v=bn(10,hn(Sn(_))),y=Y(zn(e-_*(p==0?e==0?.1:1:a),v/10),24),b=e>=l&&(d==1||d==3&&y<=l||d==2&&y>=l)?l:q,x=yn(s,y<b&&e>=b?b:vn(b,y)),S=Y(Rn(t+_*(p==0?t==0?.1:1:o),v/10),24),C=t<=u&&(f==1||f==3&&S>=u||f==2&&S<=u)?u:-q,w=vn(c,S>C&&t<=C?C:yn(C,S));return x==w&&x==0&&(w=100),[x,w]}var un=new Intl.NumberFormat(Ot?jt.language:`en-US`),dn=e=>un.format(e),fn=Math,pn=fn.PI,mn=fn.abs,hn=fn.floor,gn=fn.round,_n=fn.ceil,vn=fn.min,yn=fn.max,bn=fn.pow,xn=fn.sign,Sn=fn.log10,Cn=fn.log2,wn=(e,t=1)=>fn.sinh(e)*t,Tn=(e,t=1)=>fn.asinh(e/t),q=1/0;function En(e){return(Sn((e^e>>31)-(e>>31))|0)+1}function Dn(e,t,n){return vn(yn(e,t),n)}function On(e){return typeof e==`function`}function J(e){return On(e)?e:()=>e}var kn=()=>{},An=e=>e,jn=(e,t)=>t,Mn=e=>null,Nn=e=>!0,Pn=(e,t)=>e==t,Fn=/\.\d*?(?=9{6,}|0{6,})/gm,In=e=>{if(qn(e)||Bn.has(e))return e;let t=`${e}`,n=t.match(Fn);if(n==null)return e;let r=n[0].length-1;if(t.indexOf(`e-`)!=-1){let[e,n]=t.split(`e`);return+`${In(e)}e${n}`}return Y(e,r)};function Ln(e,t){return In(Y(In(e/t))*t)}function Rn(e,t){return In(_n(In(e/t))*t)}function zn(e,t){return In(hn(In(e/t))*t)}function Y(e,t=0){if(qn(e))return e;let n=10**t;return gn(e*n*(1+2**-52))/n}var Bn=new Map;function Vn(e){return((``+e).split(`.`)[1]||``).length}function Hn(e,t,n,r){let i=[],a=r.map(Vn);for(let o=t;o<n;o++){let t=mn(o),n=Y(bn(e,o),t);for(let s=0;s<r.length;s++){let c=e==10?+`${r[s]}e${o}`:r[s]*n,l=(o>=0?0:t)+(o>=a[s]?0:a[s]),u=e==10?c:Y(c,l);i.push(u),Bn.set(u,l)}}return i}var Un={},Wn=[],Gn=[null,null],Kn=Array.isArray,qn=Number.isInteger,Jn=e=>e===void 0;function Yn(e){return typeof e==`string`}function Xn(e){let t=!1;if(e!=null){let n=e.constructor;t=n==null||n==Object}return t}function Zn(e){return typeof e==`object`&&!!e}var Qn=Object.getPrototypeOf(Uint8Array),$n=`__proto__`;function er(e,t=Xn){let n;if(Kn(e)){let r=e.find(e=>e!=null);if(Kn(r)||t(r)){n=Array(e.length);for(let r=0;r<e.length;r++)n[r]=er(e[r],t)}else n=e.slice()}else if(e instanceof Qn)n=e.slice();else if(t(e)){n={};for(let r in e)r!=$n&&(n[r]=er(e[r],t))}else n=e;return n}function tr(e){let t=arguments;for(let n=1;n<t.length;n++){let r=t[n];for(let t in r)t!=$n&&(Xn(e[t])?tr(e[t],er(r[t])):e[t]=er(r[t]))}return e}var nr=0,rr=1,ir=2;function ar(e,t,n){for(let r=0,i,a=-1;r<t.length;r++){let o=t[r];if(o>a){for(i=o-1;i>=0&&e[i]==null;)e[i--]=null;for(i=o+1;i<n&&e[i]==null;)e[a=i++]=null}}}function or(e,t){if(lr(e)){let t=e[0].slice();for(let n=1;n<e.length;n++)t.push(...e[n].slice(1));return ur(t[0])||(t=cr(t)),t}let n=new Set;for(let t=0;t<e.length;t++){let r=e[t][0],i=r.length;for(let e=0;e<i;e++)n.add(r[e])}let r=[Array.from(n).sort((e,t)=>e-t)],i=r[0].length,a=new Map;for(let e=0;e<i;e++)a.set(r[0][e],e);for(let n=0;n<e.length;n++){let o=e[n],s=o[0];for(let e=1;e<o.length;e++){let c=o[e],l=Array(i).fill(void 0),u=t?t[n][e]:rr,d=[];for(let e=0;e<c.length;e++){let t=c[e],n=a.get(s[e]);t===null?u!=nr&&(l[n]=t,u==ir&&d.push(n)):l[n]=t}ar(l,d,i),r.push(l)}}return r}var sr=typeof queueMicrotask>`u`?e=>Promise.resolve().then(e):queueMicrotask;function cr(e){let t=e[0],n=t.length,r=Array(n);for(let e=0;e<r.length;e++)r[e]=e;r.sort((e,n)=>t[e]-t[n]);let i=[];for(let t=0;t<e.length;t++){let a=e[t],o=Array(n);for(let e=0;e<n;e++)o[e]=a[r[e]];i.push(o)}return i}function lr(e){let t=e[0][0],n=t.length;for(let r=1;r<e.length;r++){let i=e[r][0];if(i.length!=n)return!1;if(i!=t){for(let e=0;e<n;e++)if(i[e]!=t[e])return!1}}return!0}function ur(e,t=100){let n=e.length;if(n<=1)return!0;let r=0,i=n-1;for(;r<=i&&e[r]==null;)r++;for(;i>=r&&e[i]==null;)i--;if(i<=r)return!0;let a=yn(1,hn((i-r+1)/t));for(let t=e[r],n=r+a;n<=i;n+=a){let r=e[n];if(r!=null){if(r<=t)return!1;t=r}}return!0}var dr=[`January`,`February`,`March`,`April`,`May`,`June`,`July`,`August`,`September`,`October`,`November`,`December`],fr=[`Sunday`,`Monday`,`Tuesday`,`Wednesday`,`Thursday`,`Friday`,`Saturday`];function pr(e){return e.slice(0,3)}var mr=fr.map(pr),hr={MMMM:dr,MMM:dr.map(pr),WWWW:fr,WWW:mr};function gr(e){return(e<10?`0`:``)+e}function _r(e){return(e<10?`00`:e<100?`0`:``)+e}var vr={YYYY:e=>e.getFullYear(),YY:e=>(e.getFullYear()+``).slice(2),MMMM:(e,t)=>t.MMMM[e.getMonth()],MMM:(e,t)=>t.MMM[e.getMonth()],MM:e=>gr(e.getMonth()+1),M:e=>e.getMonth()+1,DD:e=>gr(e.getDate()),D:e=>e.getDate(),WWWW:(e,t)=>t.WWWW[e.getDay()],WWW:(e,t)=>t.WWW[e.getDay()],HH:e=>gr(e.getHours()),H:e=>e.getHours(),h:e=>{let t=e.getHours();return t==0?12:t>12?t-12:t},AA:e=>e.getHours()>=12?`PM`:`AM`,aa:e=>e.getHours()>=12?`pm`:`am`,a:e=>e.getHours()>=12?`p`:`a`,mm:e=>gr(e.getMinutes()),m:e=>e.getMinutes(),ss:e=>gr(e.getSeconds()),s:e=>e.getSeconds(),fff:e=>_r(e.getMilliseconds())};function yr(e,t){t||=hr;let n=[],r=/\{([a-z]+)\}|[^{]+/gi,i;for(;i=r.exec(e);)n.push(i[0][0]==`{`?vr[i[1]]:i[0]);return e=>{let r=``;for(let i=0;i<n.length;i++)r+=typeof n[i]==`string`?n[i]:n[i](e,t);return r}}var br=new Intl.DateTimeFormat().resolvedOptions().timeZone;function xr(e,t){let n;return t==`UTC`||t==`Etc/UTC`?n=new Date(+e+e.getTimezoneOffset()*6e4):t==br?n=e:(n=new Date(e.toLocaleString(`en-US`,{timeZone:t})),n.setMilliseconds(e.getMilliseconds())),n}var Sr=e=>e%1==0,Cr=[1,2,2.5,5],wr=Hn(10,-32,0,Cr),Tr=Hn(10,0,32,Cr),Er=Tr.filter(Sr),Dr=wr.concat(Tr),Or=`
`,kr=`{YYYY}`,Ar=Or+kr,jr=`{M}/{D}`,Mr=Or+jr,Nr=Mr+`/{YY}`,Pr=`{aa}`,Fr=`{h}:{mm}`+Pr,Ir=Or+Fr,Lr=`:{ss}`,X=null;function Z(e){let t=e*1e3,n=t*60,r=n*60,i=r*24,a=i*30,o=i*365,s=(e==1?Hn(10,0,3,Cr).filter(Sr):Hn(10,-3,0,Cr)).concat([t,t*5,t*10,t*15,t*30,n,n*5,n*10,n*15,n*30,r,r*2,r*3,r*4,r*6,r*8,r*12,i,i*2,i*3,i*4,i*5,i*6,i*7,i*8,i*9,i*10,i*15,a,a*2,a*3,a*4,a*6,o,o*2,o*5,o*10,o*25,o*50,o*100]),c=[[o,kr,X,X,X,X,X,X,1],[i*28,`{MMM}`,Ar,X,X,X,X,X,1],[i,jr,Ar,X,X,X,X,X,1],[r,`{h}`+Pr,Nr,X,Mr,X,X,X,1],[n,Fr,Nr,X,Mr,X,X,X,1],[t,Lr,Nr+` `+Fr,X,Mr+` `+Fr,X,Ir,X,1],[e,Lr+`.{fff}`,Nr+` `+Fr,X,Mr+` `+Fr,X,Ir,X,1]];function l(t){return(s,c,l,u,d,f)=>{let p=[],m=d>=o,h=d>=a&&d<o,g=t(l),_=Y(g*e,3),v=qr(g.getFullYear(),m?0:g.getMonth(),h||m?1:g.getDate()),y=Y(v*e,3);if(h||m){let n=h?d/a:0,r=m?d/o:0,i=_==y?_:Y(qr(v.getFullYear()+r,v.getMonth()+n,1)*e,3),s=new Date(gn(i/e)),c=s.getFullYear(),l=s.getMonth();for(let a=0;i<=u;a++){let o=qr(c+r*a,l+n*a,1),s=o-t(Y(o*e,3));i=Y((+o+s)*e,3),i<=u&&p.push(i)}}else{let a=d>=i?i:d,o=y+(hn(l)-hn(_))+Rn(_-y,a);p.push(o);let m=t(o),h=m.getHours()+m.getMinutes()/n+m.getSeconds()/r,g=d/r,v=f/s.axes[c]._space;for(;o=Y(o+d,e==1?0:3),!(o>u);)if(g>1){let e=hn(Y(h+g,6))%24,n=t(o).getHours()-e;n>1&&(n=-1),o-=n*r,h=(h+g)%24;let i=p[p.length-1];Y((o-i)/d,3)*v>=.7&&p.push(o)}else p.push(o)}return p}}return[s,c,l]}var[Rr,zr,Br]=Z(1),[Vr,Hr,Ur]=Z(.001);Hn(2,-53,53,[1]);function Wr(e,t){return e.map(e=>e.map((n,r)=>r==0||r==8||n==null?n:t(r==1||e[8]==0?n:e[1]+n)))}function Gr(e,t){return(n,r,i,a,o)=>{let s=t.find(e=>o>=e[0])||t[t.length-1],c,l,u,d,f,p;return r.map(t=>{let n=e(t),r=n.getFullYear(),i=n.getMonth(),a=n.getDate(),o=n.getHours(),m=n.getMinutes(),h=n.getSeconds(),g=r!=c&&s[2]||i!=l&&s[3]||a!=u&&s[4]||o!=d&&s[5]||m!=f&&s[6]||h!=p&&s[7]||s[1];return c=r,l=i,u=a,d=o,f=m,p=h,g(n)})}}function Kr(e,t){let n=yr(t);return(t,r,i,a,o)=>r.map(t=>n(e(t)))}function qr(e,t,n){return new Date(e,t,n)}function Jr(e,t){return t(e)}var Yr=`{YYYY}-{MM}-{DD} {h}:{mm}{aa}`;function Xr(e,t){return(n,r,i,a)=>a==null?Dt:t(e(r))}function Zr(e,t){let n=e.series[t];return n.width?n.stroke(e,t):n.points.width?n.points.stroke(e,t):null}function Qr(e,t){return e.series[t].fill(e,t)}var $r={show:!0,live:!0,isolate:!1,mount:kn,markers:{show:!0,width:2,stroke:Zr,fill:Qr,dash:`solid`},idx:null,idxs:null,values:[]};function ei(e,t){let n=e.cursor.points,r=Lt(),i=n.size(e,t);W(r,lt,i),W(r,ut,i);let a=i/-2;W(r,`marginLeft`,a),W(r,`marginTop`,a);let o=n.width(e,t,i);return o&&W(r,`borderWidth`,o),r}function Q(e,t){let n=e.series[t].points;return n._fill||n._stroke}function ti(e,t){let n=e.series[t].points;return n._stroke||n._fill}function ni(e,t){return e.series[t].points.size}var ri=[0,0];function ii(e,t,n){return ri[0]=t,ri[1]=n,ri}function ai(e,t,n,r=!0){return e=>{e.button!=0||r&&e.target!=t||n(e)}}function oi(e,t,n,r=!0){return e=>{r&&e.target!=t||n(e)}}var si={show:!0,x:!0,y:!0,lock:!1,move:ii,points:{one:!1,show:ei,size:ni,width:0,stroke:ti,fill:Q},bind:{mousedown:ai,mouseup:ai,click:ai,dblclick:ai,mousemove:oi,mouseleave:oi,mouseenter:oi},drag:{setScale:!0,x:!0,y:!1,dist:0,uni:null,click:(e,t)=>{t.stopPropagation(),t.stopImmediatePropagation()},_x:!1,_y:!1},focus:{dist:(e,t,n,r,i)=>r-i,prox:-1,bias:0},hover:{skip:[void 0],prox:null,bias:0},left:-10,top:-10,idx:null,dataIdx:null,idxs:null,event:null},ci={show:!0,stroke:`rgba(0,0,0,0.07)`,width:2},li=tr({},ci,{filter:jn}),ui=tr({},li,{size:10}),di=tr({},ci,{show:!1}),fi=`12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji"`,pi=`bold `+fi,mi=1.5,hi={show:!0,scale:`x`,stroke:ht,space:50,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:pi,side:2,grid:li,ticks:ui,border:di,font:fi,lineGap:mi,rotate:0},gi=`Value`,_i=`Time`,vi={show:!0,scale:`x`,auto:!1,sorted:1,min:q,max:-1/0,idxs:[]};function yi(e,t,n,r,i){return t.map(e=>e==null?``:dn(e))}function bi(e,t,n,r,i,a,o){let s=[],c=Bn.get(i)||0;n=o?n:Y(Rn(n,i),c);for(let e=n;e<=r;e=Y(e+i,c))s.push(Object.is(e,-0)?0:e);return s}function xi(e,t,n,r,i,a,o){let s=[],c=e.scales[e.axes[t].scale].log;i=bn(c,hn((c==10?Sn:Cn)(n))),c==10&&(i=Dr[Jt(i,Dr)]);let l=n,u=i*c;c==10&&(u=Dr[Jt(u,Dr)]);do s.push(l),l+=i,c==10&&!Bn.has(l)&&(l=Y(l,Bn.get(i))),l>=u&&(i=l,u=i*c,c==10&&(u=Dr[Jt(u,Dr)]));while(l<=r);return s}function Si(e,t,n,r,i,a,o){let s=e.scales[e.axes[t].scale].asinh,c=r>s?xi(e,t,yn(s,n),r,i):[s],l=r>=0&&n<=0?[0]:[];return(n<-s?xi(e,t,yn(s,-r),-n,i):[s]).reverse().map(e=>-e).concat(l,c)}var Ci=/./,wi=/[12357]/,Ti=/[125]/,Ei=/1/,Di=(e,t,n,r)=>e.map((e,i)=>t==4&&e==0||i%r==0&&n.test(e.toExponential()[+(e<0)])?e:null);function Oi(e,t,n,r,i){let a=e.axes[n],o=a.scale,s=e.scales[o],c=e.valToPos,l=a._space,u=c(10,o),d=c(9,o)-u>=l?Ci:c(7,o)-u>=l?wi:c(5,o)-u>=l?Ti:Ei;if(d==Ei){let e=mn(c(1,o)-u);if(e<l)return Di(t.slice().reverse(),s.distr,d,_n(l/e)).reverse()}return Di(t,s.distr,d,1)}function ki(e,t,n,r,i){let a=e.axes[n],o=a.scale,s=a._space,c=e.valToPos,l=mn(c(1,o)-c(2,o));return l<s?Di(t.slice().reverse(),3,Ci,_n(s/l)).reverse():t}function Ai(e,t,n,r){return r==null?Dt:t==null?``:dn(t)}var ji={show:!0,scale:`y`,stroke:ht,space:30,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:pi,side:3,grid:li,ticks:ui,border:di,font:fi,lineGap:mi,rotate:0};function Mi(e,t){return Y((3+(e||1)*2)*t,3)}function Ni(e,t){let{scale:n,idxs:r}=e.series[0],i=e._data[0],a=e.valToPos(i[r[0]],n,!0),o=mn(e.valToPos(i[r[1]],n,!0)-a)/(e.series[t].points.space*U);return r[1]-r[0]<=o}var Pi={scale:null,auto:!0,sorted:0,min:q,max:-1/0},Fi=(e,t,n,r,i)=>i,Ii={show:!0,auto:!0,sorted:0,gaps:Fi,alpha:1,facets:[tr({},Pi,{scale:`x`}),tr({},Pi,{scale:`y`})]},Li={scale:`y`,auto:!0,sorted:0,show:!0,spanGaps:!1,gaps:Fi,alpha:1,points:{show:Ni,filter:null},values:null,min:q,max:-1/0,idxs:[],path:null,clip:null};function Ri(e,t,n,r,i){return n/10}var zi={time:He,auto:!0,distr:1,log:10,asinh:1,min:null,max:null,dir:1,ori:0},Bi=tr({},zi,{time:!1,ori:1}),Vi={};function Hi(e,t){let n=Vi[e];return n||(n={key:e,plots:[],sub(e){n.plots.push(e)},unsub(e){n.plots=n.plots.filter(t=>t!=e)},pub(e,t,r,i,a,o,s){for(let c=0;c<n.plots.length;c++)n.plots[c]!=t&&n.plots[c].pub(e,t,r,i,a,o,s)}},e!=null&&(Vi[e]=n)),n}var Ui=1,Wi=2;function Gi(e,t,n){let r=e.mode,i=e.series[t],a=r==2?e._data[t]:e._data,o=e.scales,s=e.bbox,c=a[0],l=r==2?a[1]:a[t],u=r==2?o[i.facets[0].scale]:o[e.series[0].scale],d=r==2?o[i.facets[1].scale]:o[i.scale],f=s.left,p=s.top,m=s.width,h=s.height,g=e.valToPosH,_=e.valToPosV;return u.ori==0?n(i,c,l,u,d,g,_,f,p,m,h,ea,na,ia,oa,ca):n(i,c,l,u,d,_,g,p,f,h,m,ta,ra,aa,sa,la)}function Ki(e,t){let n=0,r=0,i=K(e.bands,Wn);for(let e=0;e<i.length;e++){let a=i[e];a.series[0]==t?n=a.dir:a.series[1]==t&&(a.dir==1?r|=1:r|=2)}return[n,r==1?-1:r==2?1:r==3?2:0]}function qi(e,t,n,r,i){let a=e.mode,o=e.series[t],s=a==2?o.facets[1].scale:o.scale,c=e.scales[s];return i==-1?c.min:i==1?c.max:c.distr==3?c.dir==1?c.min:c.max:0}function Ji(e,t,n,r,i,a){return Gi(e,t,(e,t,o,s,c,l,u,d,f,p,m)=>{let h=e.pxRound,g=s.dir*(s.ori==0?1:-1),_=s.ori==0?na:ra,v,y;g==1?(v=n,y=r):(v=r,y=n);let b=h(l(t[v],s,p,d)),x=h(u(o[v],c,m,f)),S=h(l(t[y],s,p,d)),C=h(u(a==1?c.max:c.min,c,m,f)),w=new Path2D(i);return _(w,S,C),_(w,b,C),_(w,b,x),w})}function Yi(e,t,n,r,i,a){let o=null;if(e.length>0){o=new Path2D;let s=t==0?ia:aa,c=n;for(let t=0;t<e.length;t++){let n=e[t];if(n[1]>n[0]){let e=n[0]-c;e>0&&s(o,c,r,e,r+a),c=n[1]}}let l=n+i-c;l>0&&s(o,c,r-5,l,r+a+10)}return o}function Xi(e,t,n){let r=e[e.length-1];r&&r[0]==t?r[1]=n:e.push([t,n])}function Zi(e,t,n,r,i,a,o){let s=[],c=e.length;for(let l=i==1?n:r;l>=n&&l<=r;l+=i)if(t[l]===null){let u=l,d=l;if(i==1)for(;++l<=r&&t[l]===null;)d=l;else for(;--l>=n&&t[l]===null;)d=l;let f=a(e[u]),p=d==u?f:a(e[d]),m=u-i;f=o<=0&&m>=0&&m<c?a(e[m]):f;let h=d+i;p=o>=0&&h>=0&&h<c?a(e[h]):p,p>=f&&s.push([f,p])}return s}function Qi(e){return e==0?An:e==1?gn:t=>Ln(t,e)}function $i(e){let t=e==0?ea:ta,n=e==0?(e,t,n,r,i,a)=>{e.arcTo(t,n,r,i,a)}:(e,t,n,r,i,a)=>{e.arcTo(n,t,i,r,a)},r=e==0?(e,t,n,r,i)=>{e.rect(t,n,r,i)}:(e,t,n,r,i)=>{e.rect(n,t,i,r)};return(e,i,a,o,s,c=0,l=0)=>{c==0&&l==0?r(e,i,a,o,s):(c=vn(c,o/2,s/2),l=vn(l,o/2,s/2),t(e,i+c,a),n(e,i+o,a,i+o,a+s,c),n(e,i+o,a+s,i,a+s,l),n(e,i,a+s,i,a,l),n(e,i,a,i+o,a,c),e.closePath())}}var ea=(e,t,n)=>{e.moveTo(t,n)},ta=(e,t,n)=>{e.moveTo(n,t)},na=(e,t,n)=>{e.lineTo(t,n)},ra=(e,t,n)=>{e.lineTo(n,t)},ia=$i(0),aa=$i(1),oa=(e,t,n,r,i,a)=>{e.arc(t,n,r,i,a)},sa=(e,t,n,r,i,a)=>{e.arc(n,t,r,i,a)},ca=(e,t,n,r,i,a,o)=>{e.bezierCurveTo(t,n,r,i,a,o)},la=(e,t,n,r,i,a,o)=>{e.bezierCurveTo(n,t,i,r,o,a)};function ua(e){return(e,t,n,r,i)=>Gi(e,t,(t,a,o,s,c,l,u,d,f,p,m)=>{let{pxRound:h,points:g}=t,_,v;s.ori==0?(_=ea,v=oa):(_=ta,v=sa);let y=Y(g.width*U,3),b=(g.size-g.width)/2*U,x=Y(b*2,3),S=new Path2D,C=new Path2D,{left:w,top:T,width:E,height:D}=e.bbox;ia(C,w-x,T-x,E+x*2,D+x*2);let O=e=>{if(o[e]!=null){let t=h(l(a[e],s,p,d)),n=h(u(o[e],c,m,f));_(S,t+b,n),v(S,t,n,b,0,pn*2)}};if(i)i.forEach(O);else for(let e=n;e<=r;e++)O(e);return{stroke:y>0?S:null,fill:S,clip:C,flags:3}})}function da(e){return(t,n,r,i,a,o)=>{r!=i&&(a!=r&&o!=r&&e(t,n,r),a!=i&&o!=i&&e(t,n,i),e(t,n,o))}}var fa=da(na),pa=da(ra);function $(e){let t=K(e?.alignGaps,0);return(e,n,r,i)=>Gi(e,n,(a,o,s,c,l,u,d,f,p,m,h)=>{[r,i]=G(s,r,i);let g=a.pxRound,_=e=>g(u(e,c,m,f)),v=e=>g(d(e,l,h,p)),y,b;c.ori==0?(y=na,b=fa):(y=ra,b=pa);let x=c.dir*(c.ori==0?1:-1),S={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Ui},C=S.stroke,w=!1;if(i-r>=m*4){let t=t=>e.posToVal(t,c.key,!0),n=null,a=null,l,u,d,f=_(o[x==1?r:i]),p=_(o[r]),m=_(o[i]),h=t(x==1?p+1:m-1);for(let e=x==1?r:i;e>=r&&e<=i;e+=x){let r=o[e],i=(x==1?r<h:r>h)?f:_(r),c=s[e];i==f?c==null?c===null&&(w=!0):(u=c,n==null?(y(C,i,v(u)),l=n=a=u):u<n?n=u:u>a&&(a=u)):(n!=null&&b(C,f,v(n),v(a),v(l),v(u)),c==null?(n=a=null,c===null&&(w=!0)):(u=c,y(C,i,v(u)),n=a=l=u),f=i,h=t(f+x))}n!=null&&n!=a&&d!=f&&b(C,f,v(n),v(a),v(l),v(u))}else for(let e=x==1?r:i;e>=r&&e<=i;e+=x){let t=s[e];t===null?w=!0:t!=null&&y(C,_(o[e]),v(t))}let[T,E]=Ki(e,n);if(a.fill!=null||T!=0){let t=S.fill=new Path2D(C),s=v(a.fillTo(e,n,a.min,a.max,T)),c=_(o[r]),l=_(o[i]);x==-1&&([l,c]=[c,l]),y(t,l,s),y(t,c,s)}if(!a.spanGaps){let l=[];w&&l.push(...Zi(o,s,r,i,x,_,t)),S.gaps=l=a.gaps(e,n,r,i,l),S.clip=Yi(l,c.ori,f,p,m,h)}return E!=0&&(S.band=E==2?[Ji(e,n,r,i,C,-1),Ji(e,n,r,i,C,1)]:Ji(e,n,r,i,C,E)),S})}function ma(e){let t=K(e.align,1),n=K(e.ascDesc,!1),r=K(e.alignGaps,0),i=K(e.extend,!1);return(e,a,o,s)=>Gi(e,a,(c,l,u,d,f,p,m,h,g,_,v)=>{[o,s]=G(u,o,s);let y=c.pxRound,{left:b,width:x}=e.bbox,S=e=>y(p(e,d,_,h)),C=e=>y(m(e,f,v,g)),w=d.ori==0?na:ra,T={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Ui},E=T.stroke,D=d.dir*(d.ori==0?1:-1),O=C(u[D==1?o:s]),k=S(l[D==1?o:s]),A=k,j=k;i&&t==-1&&(j=b,w(E,j,O)),w(E,k,O);for(let e=D==1?o:s;e>=o&&e<=s;e+=D){let n=u[e];if(n==null)continue;let r=S(l[e]),i=C(n);t==1?w(E,r,O):w(E,A,i),w(E,r,i),O=i,A=r}let ee=A;i&&t==1&&(ee=b+x,w(E,ee,O));let[te,ne]=Ki(e,a);if(c.fill!=null||te!=0){let t=T.fill=new Path2D(E),n=C(c.fillTo(e,a,c.min,c.max,te));w(t,ee,n),w(t,j,n)}if(!c.spanGaps){let i=[];i.push(...Zi(l,u,o,s,D,S,r));let f=c.width*U/2,p=n||t==1?f:-f,m=n||t==-1?-f:f;i.forEach(e=>{e[0]+=p,e[1]+=m}),T.gaps=i=c.gaps(e,a,o,s,i),T.clip=Yi(i,d.ori,h,g,_,v)}return ne!=0&&(T.band=ne==2?[Ji(e,a,o,s,E,-1),Ji(e,a,o,s,E,1)]:Ji(e,a,o,s,E,ne)),T})}function ha(e,t,n,r,i,a,o=q){if(e.length>1){let s=null;for(let c=0,l=1/0;c<e.length;c++)if(t[c]!==void 0){if(s!=null){let t=mn(e[c]-e[s]);t<l&&(l=t,o=mn(n(e[c],r,i,a)-n(e[s],r,i,a)))}s=c}}return o}function ga(e){e||=Un;let t=K(e.size,[.6,q,1]),n=e.align||0,r=e.gap||0,i=e.radius;i=i==null?[0,0]:typeof i==`number`?[i,0]:i;let a=J(i),o=1-t[0],s=K(t[1],q),c=K(t[2],1),l=K(e.disp,Un),u=K(e.each,e=>{}),{fill:d,stroke:f}=l;return(e,t,i,p)=>Gi(e,t,(m,h,g,_,v,y,b,x,S,C,w)=>{let T=m.pxRound,E=n,D=r*U,O=s*U,k=c*U,A,j;_.ori==0?[A,j]=a(e,t):[j,A]=a(e,t);let ee=_.dir*(_.ori==0?1:-1),te=_.ori==0?ia:aa,ne=_.ori==0?u:(e,t,n,r,i,a,o)=>{u(e,t,n,i,r,o,a)},re=K(e.bands,Wn).find(e=>e.series[0]==t),ie=re==null?0:re.dir,ae=m.fillTo(e,t,m.min,m.max,ie),M=T(b(ae,v,w,S)),N,P,F,I=C,L=T(m.width*U),oe=!1,se=null,ce=null,le=null,ue=null;d!=null&&(L==0||f!=null)&&(oe=!0,se=d.values(e,t,i,p),ce=new Map,new Set(se).forEach(e=>{e!=null&&ce.set(e,new Path2D)}),L>0&&(le=f.values(e,t,i,p),ue=new Map,new Set(le).forEach(e=>{e!=null&&ue.set(e,new Path2D)})));let{x0:de,size:R}=l;if(de!=null&&R!=null){E=1,h=de.values(e,t,i,p),de.unit==2&&(h=h.map(t=>e.posToVal(x+t*C,_.key,!0)));let n=R.values(e,t,i,p);P=R.unit==2?n[0]*C:y(n[0],_,C,x)-y(0,_,C,x),I=ha(h,g,y,_,C,x,I),F=I-P+D}else I=ha(h,g,y,_,C,x,I),F=I*o+D,P=I-F;F<1&&(F=0),L>=P/2&&(L=0),F<5&&(T=An);let fe=F>0,pe=I-F-(fe?L:0);P=T(Dn(pe,k,O)),N=(E==0?P/2:E==ee?0:P)-E*ee*((E==0?D/2:0)+(fe?L/2:0));let me={stroke:null,fill:null,clip:null,band:null,gaps:null,flags:0},he=oe?null:new Path2D,ge=null;if(re!=null)ge=e.data[re.series[1]];else{let{y0:n,y1:r}=l;n!=null&&r!=null&&(g=r.values(e,t,i,p),ge=n.values(e,t,i,p))}let _e=A*P,ve=j*P;for(let n=ee==1?i:p;n>=i&&n<=p;n+=ee){let r=g[n];if(r==null)continue;if(ge!=null){let e=ge[n]??0;if(r-e==0)continue;M=b(e,v,w,S)}let i=y(_.distr!=2||l!=null?h[n]:n,_,C,x),a=b(K(r,ae),v,w,S),o=T(i-N),s=T(yn(a,M)),c=T(vn(a,M)),u=s-c;if(r!=null){let i=r<0?ve:_e,a=r<0?_e:ve;oe?(L>0&&le[n]!=null&&te(ue.get(le[n]),o,c+hn(L/2),P,yn(0,u-L),i,a),se[n]!=null&&te(ce.get(se[n]),o,c+hn(L/2),P,yn(0,u-L),i,a)):te(he,o,c+hn(L/2),P,yn(0,u-L),i,a),ne(e,t,n,o-L/2,c,P+L,u)}}return L>0?me.stroke=oe?ue:he:oe||(me._fill=m.width==0?m._fill:m._stroke??m._fill,me.width=0),me.fill=oe?ce:he,me})}function _a(e,t){let n=K(t?.alignGaps,0);return(t,r,i,a)=>Gi(t,r,(o,s,c,l,u,d,f,p,m,h,g)=>{[i,a]=G(c,i,a);let _=o.pxRound,v=e=>_(d(e,l,h,p)),y=e=>_(f(e,u,g,m)),b,x,S;l.ori==0?(b=ea,S=na,x=ca):(b=ta,S=ra,x=la);let C=l.dir*(l.ori==0?1:-1),w=v(s[C==1?i:a]),T=w,E=[],D=[];for(let e=C==1?i:a;e>=i&&e<=a;e+=C)if(c[e]!=null){let t=s[e],n=v(t);E.push(T=n),D.push(y(c[e]))}let O={stroke:e(E,D,b,S,x,_),fill:null,clip:null,band:null,gaps:null,flags:Ui},k=O.stroke,[A,j]=Ki(t,r);if(o.fill!=null||A!=0){let e=O.fill=new Path2D(k),n=y(o.fillTo(t,r,o.min,o.max,A));S(e,T,n),S(e,w,n)}if(!o.spanGaps){let e=[];e.push(...Zi(s,c,i,a,C,v,n)),O.gaps=e=o.gaps(t,r,i,a,e),O.clip=Yi(e,l.ori,p,m,h,g)}return j!=0&&(O.band=j==2?[Ji(t,r,i,a,k,-1),Ji(t,r,i,a,k,1)]:Ji(t,r,i,a,k,j)),O})}function va(e){return _a(ya,e)}function ya(e,t,n,r,i,a){let o=e.length;if(o<2)return null;let s=new Path2D;if(n(s,e[0],t[0]),o==2)r(s,e[1],t[1]);else{let n=Array(o),r=Array(o-1),a=Array(o-1),c=Array(o-1);for(let n=0;n<o-1;n++)a[n]=t[n+1]-t[n],c[n]=e[n+1]-e[n],r[n]=a[n]/c[n];n[0]=r[0];for(let e=1;e<o-1;e++)r[e]===0||r[e-1]===0||r[e-1]>0!=r[e]>0?n[e]=0:(n[e]=3*(c[e-1]+c[e])/((2*c[e]+c[e-1])/r[e-1]+(c[e]+2*c[e-1])/r[e]),isFinite(n[e])||(n[e]=0));n[o-1]=r[o-2];for(let r=0;r<o-1;r++)i(s,e[r]+c[r]/3,t[r]+n[r]*c[r]/3,e[r+1]-c[r]/3,t[r+1]-n[r+1]*c[r]/3,e[r+1],t[r+1])}return s}var ba=new Set;function xa(){for(let e of ba)e.syncRect(!0)}Ot&&(Kt(Ct,At,xa),Kt(wt,At,xa,!0),Kt(Et,At,()=>{La.pxRatio=U}));var Sa=$(),Ca=ua();function wa(e,t,n,r){return(r?[e[0],e[1]].concat(e.slice(2)):[e[0]].concat(e.slice(1))).map((e,r)=>Ea(e,r,t,n))}function Ta(e,t){return e.map((e,n)=>n==0?{}:tr({},t,e))}function Ea(e,t,n,r){return tr({},t==0?n:r,e)}function Da(e,t,n){return t==null?Gn:[t,n]}var Oa=Da;function ka(e,t,n){return t==null?Gn:sn(t,n,nn,!0)}function Aa(e,t,n,r){return t==null?Gn:en(t,n,e.scales[r].log,!1)}var ja=Aa;function Ma(e,t,n,r){return t==null?Gn:tn(t,n,e.scales[r].log,!1)}var Na=Ma;function Pa(e,t,n,r,i){let a=yn(En(e),En(t)),o=t-e,s=Jt(i/r*o,n);do{let e=n[s],t=r*e/o;if(t>=i&&a+(e<5?Bn.get(e):0)<=17)return[e,t]}while(++s<n.length);return[0,0]}function Fa(e){let t,n;return e=e.replace(/(\d+)px/,(e,r)=>(t=gn((n=+r)*U))+`px`),[e,t,n]}function Ia(e){e.show&&[e.font,e.labelFont].forEach(e=>{let t=Y(e[2]*U,1);e[0]=e[0].replace(/[0-9.]+px/,t+`px`),e[1]=t})}function La(e,t,n){let r={mode:K(e.mode,1)},i=r.mode;function a(e,t,n,r){let i=t.valToPct(e);return r+n*(t.dir==-1?1-i:i)}function o(e,t,n,r){let i=t.valToPct(e);return r+n*(t.dir==-1?i:1-i)}function s(e,t,n,r){return t.ori==0?a(e,t,n,r):o(e,t,n,r)}r.valToPosH=a,r.valToPosV=o;let c=!1;r.status=0;let l=r.root=Lt(Ue);if(e.id!=null&&(l.id=e.id),Pt(l,e.class),e.title){let t=Lt(Ke,l);t.textContent=e.title}let u=It(`canvas`),d=r.ctx=u.getContext(`2d`),f=Lt(qe,l);Kt(`click`,f,e=>{e.target===m&&(X!=Pr||Z!=Fr)&&Zr.click(r,e)},!0);let p=r.under=Lt(Je,f);f.appendChild(u);let m=r.over=Lt(Ye,f);e=er(e);let h=+K(e.pxAlign,1),g=Qi(h);(e.plugins||[]).forEach(t=>{t.opts&&(e=t.opts(r,e)||e)});let _=e.ms||.001,v=r.series=i==1?wa(e.series||[],vi,Li,!1):Ta(e.series||[null],Ii),y=r.axes=wa(e.axes||[],hi,ji,!0),b=r.scales={},x=r.bands=e.bands||[];x.forEach(e=>{e.fill=J(e.fill||null),e.dir=K(e.dir,-1)});let S=i==2?v[1].facets[0].scale:v[0].scale,C={axes:hr,series:rr},w=(e.drawOrder||[`axes`,`series`]).map(e=>C[e]);function T(e){let t=e.distr==3?t=>Sn(t>0?t:e.clamp(r,t,e.min,e.max,e.key)):e.distr==4?t=>Tn(t,e.asinh):e.distr==100?t=>e.fwd(t):e=>e;return n=>{let r=t(n),{_min:i,_max:a}=e,o=a-i;return(r-i)/o}}function E(t){let n=b[t];if(n==null){let r=(e.scales||Un)[t]||Un;if(r.from!=null){E(r.from);let e=tr({},b[r.from],r,{key:t});e.valToPct=T(e),b[t]=e}else{n=b[t]=tr({},t==S?zi:Bi,r),n.key=t;let e=n.time,a=n.range,o=Kn(a);if((t!=S||i==2&&!e)&&(o&&(a[0]==null||a[1]==null)&&(a={min:a[0]==null?rn:{mode:1,hard:a[0],soft:a[0]},max:a[1]==null?rn:{mode:1,hard:a[1],soft:a[1]}},o=!1),!o&&Xn(a))){let e=a;a=(t,n,r)=>n==null?Gn:sn(n,r,e)}n.range=J(a||(e?Oa:t==S?n.distr==3?ja:n.distr==4?Na:Da:n.distr==3?Aa:n.distr==4?Ma:ka)),n.auto=J(!o&&n.auto),n.clamp=J(n.clamp||Ri),n._min=n._max=null,n.valToPct=T(n)}}}E(`x`),E(`y`),i==1&&v.forEach(e=>{E(e.scale)}),y.forEach(e=>{E(e.scale)});for(let t in e.scales)E(t);let D=b[S],O=D.distr,k,A;D.ori==0?(Pt(l,We),k=a,A=o):(Pt(l,Ge),k=o,A=a);let j={};for(let e in b){let t=b[e];(t.min!=null||t.max!=null)&&(j[e]={min:t.min,max:t.max},t.min=t.max=null)}let ee=e.tzDate||(e=>new Date(gn(e/_))),te=e.fmtDate||yr,ne=_==1?Br(ee):Ur(ee),re=Gr(ee,Wr(_==1?zr:Hr,te)),ie=Xr(ee,Jr(Yr,te)),ae=[],M=r.legend=tr({},$r,e.legend),N=r.cursor=tr({},si,{drag:{y:i==2}},e.cursor),P=M.show,F=N.show,I=M.markers;M.idxs=ae,I.width=J(I.width),I.dash=J(I.dash),I.stroke=J(I.stroke),I.fill=J(I.fill);let L,oe,se,ce=[],le=[],ue,de=!1,R={};if(M.live){let e=v[1]?v[1].values:null;de=e!=null,ue=de?e(r,1,0):{_:0};for(let e in ue)R[e]=Dt}if(P){if(L=It(`table`,nt,l),se=It(`tbody`,null,L),M.mount(r,L),de){oe=It(`thead`,null,L,se);let e=It(`tr`,null,oe);for(var fe in It(`th`,null,e),ue)It(`th`,st,e).textContent=fe}else Pt(L,it),M.live&&Pt(L,rt)}let pe={show:!0},me={show:!1};function he(e,t){if(t==0&&(de||!M.live||i==2))return Gn;let n=[],a=It(`tr`,at,se,se.childNodes[t]);Pt(a,e.class),e.show||Pt(a,Ze);let o=It(`th`,null,a);if(I.show){let e=Lt(ot,o);if(t>0){let n=I.width(r,t);n&&(e.style.border=n+`px `+I.dash(r,t)+` `+I.stroke(r,t)),e.style.background=I.fill(r,t)}}let s=Lt(st,o);for(var c in e.label instanceof HTMLElement?s.appendChild(e.label):s.textContent=e.label,t>0&&(I.show||(s.style.color=e.width>0?I.stroke(r,t):I.fill(r,t)),_e(`click`,o,t=>{if(N._lock)return;Ve(t);let n=v.indexOf(e);if((t.ctrlKey||t.metaKey)!=M.isolate){let e=v.some((e,t)=>t>0&&t!=n&&e.show);v.forEach((t,r)=>{r>0&&ai(r,e?r==n?pe:me:pe,!0,$.setSeries)})}else ai(n,{show:!e.show},!0,$.setSeries)},!1),Ct&&_e(bt,o,t=>{N._lock||(Ve(t),ai(v.indexOf(e),mi,!0,$.setSeries))},!1)),ue){let e=It(`td`,ct,a);e.textContent=`--`,n.push(e)}return[a,n]}let ge=new Map;function _e(e,t,n,i=!0){let a=ge.get(t)||{},o=N.bind[e](r,t,n,i);o&&(Kt(e,t,a[e]=o),ge.set(t,a))}function ve(e,t,n){let r=ge.get(t)||{};for(let n in r)(e==null||n==e)&&(qt(n,t,r[n]),delete r[n]);e??ge.delete(t)}let z=0,ye=0,B=0,V=0,be=0,xe=0,Se=be,Ce=xe,we=B,Te=V,Ee=0,De=0,Oe=0,ke=0;r.bbox={};let Ae=!1,je=!1,Me=!1,Ne=!1,Pe=!1,Fe=!1;function Ie(e,t,n){(n||e!=r.width||t!=r.height)&&Le(e,t),gr(!1),Me=!0,je=!0,Sr()}function Le(e,t){r.width=z=B=e,r.height=ye=V=t,be=xe=0,ze(),Be();let n=r.bbox;Ee=n.left=Ln(be*U,.5),De=n.top=Ln(xe*U,.5),Oe=n.width=Ln(B*U,.5),ke=n.height=Ln(V*U,.5)}function Re(){let e=!1,t=0;for(;!e;){t++;let n=pr(t),i=mr(t);e=t==3||n&&i,e||(Le(r.width,r.height),je=!0)}}function H({width:e,height:t}){Ie(e,t)}r.setSize=H;function ze(){let e=!1,t=!1,n=!1,r=!1;y.forEach((i,a)=>{if(i.show&&i._show){let{side:a,_size:o}=i,s=a%2,c=o+(i.label==null?0:i.labelSize);c>0&&(s?(B-=c,a==3?(be+=c,r=!0):n=!0):(V-=c,a==0?(xe+=c,e=!0):t=!0))}}),Ht[0]=e,Ht[1]=n,Ht[2]=t,Ht[3]=r,B-=Xt[1]+Xt[3],be+=Xt[3],V-=Xt[2]+Xt[0],xe+=Xt[0]}function Be(){let e=be+B,t=xe+V,n=be,r=xe;function i(i,a){switch(i){case 1:return e+=a,e-a;case 2:return t+=a,t-a;case 3:return n-=a,n+a;case 0:return r-=a,r+a}}y.forEach((e,t)=>{if(e.show&&e._show){let t=e.side;e._pos=i(t,e._size),e.label!=null&&(e._lpos=i(t,e.labelSize))}})}if(N.dataIdx==null){let e=N.hover,n=e.skip=new Set(e.skip??[]);n.add(void 0);let r=e.prox=J(e.prox),i=e.bias??=0;N.dataIdx=(e,a,o,s)=>{if(a==0)return o;let c=o,l=r(e,a,o,s)??q,u=l>=0&&l<q,d=D.ori==0?B:V,f=N.left,p=t[0],m=t[a];if(n.has(m[o])){c=null;let e=null,t=null,r;if(i==0||i==-1)for(r=o;e==null&&r-->0;)n.has(m[r])||(e=r);if(i==0||i==1)for(r=o;t==null&&r++<m.length;)n.has(m[r])||(t=r);if(e!=null||t!=null){if(u){let n=e==null?-1/0:k(p[e],D,d,0),r=t==null?1/0:k(p[t],D,d,0),i=f-n,a=r-f;i<=a?i<=l&&(c=e):a<=l&&(c=t)}else c=t==null?e:e==null?t:o-e<=t-o?e:t}}else u&&mn(f-k(p[o],D,d,0))>l&&(c=null);return c}}let Ve=e=>{N.event=e};N.idxs=ae,N._lock=!1;let He=N.points;He.show=J(He.show),He.size=J(He.size),He.stroke=J(He.stroke),He.width=J(He.width),He.fill=J(He.fill);let ht=r.focus=tr({},e.focus||{alpha:.3},N.focus),Ct=ht.prox>=0,wt=Ct&&He.one,Tt=[],Ot=[],jt=[];function Mt(e,t){let n=He.show(r,t);if(n instanceof HTMLElement)return Pt(n,tt),Pt(n,e.class),zt(n,-10,-10,B,V),m.insertBefore(n,Tt[t]),n}function Nt(e,t){if(i==1||t>0){let t=i==1&&b[e.scale].time,n=e.value;e.value=t?Yn(n)?Xr(ee,Jr(n,te)):n||ie:n||Ai,e.label=e.label||(t?_i:gi)}if(wt||t>0){e.width=e.width==null?1:e.width,e.paths=e.paths||Sa||Mn,e.fillTo=J(e.fillTo||qi),e.pxAlign=+K(e.pxAlign,h),e.pxRound=Qi(e.pxAlign),e.stroke=J(e.stroke||null),e.fill=J(e.fill||null),e._stroke=e._fill=e._paths=e._focus=null;let t=Mi(yn(1,e.width),1),n=e.points=tr({},{size:t,width:yn(1,t*.2),stroke:e.stroke,space:t*2,paths:Ca,_stroke:null,_fill:null},e.points);n.show=J(n.show),n.filter=J(n.filter),n.fill=J(n.fill),n.stroke=J(n.stroke),n.paths=J(n.paths),n.pxAlign=e.pxAlign}if(P){let n=he(e,t);ce.splice(t,0,n[0]),le.splice(t,0,n[1]),M.values.push(null)}if(F){ae.splice(t,0,null);let n=null;wt?t==0&&(n=Mt(e,t)):t>0&&(n=Mt(e,t)),Tt.splice(t,0,n),Ot.splice(t,0,0),jt.splice(t,0,0)}fa(`addSeries`,t)}function Rt(e,t){t??=v.length,e=i==1?Ea(e,t,vi,Li):Ea(e,t,{},Ii),v.splice(t,0,e),Nt(v[t],t)}r.addSeries=Rt;function Bt(e){if(v.splice(e,1),P){M.values.splice(e,1),le.splice(e,1);let t=ce.splice(e,1)[0];ve(null,t.firstChild),t.remove()}F&&(ae.splice(e,1),Tt.splice(e,1)[0].remove(),Ot.splice(e,1),jt.splice(e,1)),fa(`delSeries`,e)}r.delSeries=Bt;let Ht=[!1,!1,!1,!1];function Wt(e,t){if(e._show=e.show,e.show){let n=e.side%2,i=b[e.scale];i??=(e.scale=n?v[1].scale:S,b[e.scale]);let a=i.time;e.size=J(e.size),e.space=J(e.space),e.rotate=J(e.rotate),Kn(e.incrs)&&e.incrs.forEach(e=>{!Bn.has(e)&&Bn.set(e,Vn(e))}),e.incrs=J(e.incrs||(i.distr==2?Er:a?_==1?Rr:Vr:Dr)),e.splits=J(e.splits||(a&&i.distr==1?ne:i.distr==3?xi:i.distr==4?Si:bi)),e.stroke=J(e.stroke),e.grid.stroke=J(e.grid.stroke),e.ticks.stroke=J(e.ticks.stroke),e.border.stroke=J(e.border.stroke);let o=e.values;e.values=Kn(o)&&!Kn(o[0])?J(o):a?Kn(o)?Gr(ee,Wr(o,te)):Yn(o)?Kr(ee,o):o||re:o||yi,e.filter=J(e.filter||(i.distr>=3&&i.log==10?Oi:i.distr==3&&i.log==2?ki:jn)),e.font=Fa(e.font),e.labelFont=Fa(e.labelFont),e._size=e.size(r,null,t,0),e._space=e._rotate=e._incrs=e._found=e._splits=e._values=null,e._size>0&&(Ht[t]=!0,e._el=Lt(Xe,f))}}function Gt(e,t,n,r){let[i,a,o,s]=n,c=t%2,l=0;return c==0&&(s||a)&&(l=t==0&&!i||t==2&&!o?gn(hi.size/3):0),c==1&&(i||o)&&(l=t==1&&!a||t==3&&!s?gn(ji.size/2):0),l}let Yt=r.padding=(e.padding||[Gt,Gt,Gt,Gt]).map(e=>J(K(e,Gt))),Xt=r._padding=Yt.map((e,t)=>e(r,t,Ht,0)),Zt,G=null,Qt=null,an=i==1?v[0].idxs:null,on=null,ln=!1;function un(e,n){if(t=e??[],r.data=r._data=t,i==2){Zt=0;for(let e=1;e<v.length;e++)Zt+=t[e][0].length}else{t.length==0&&(r.data=r._data=t=[[]]),on=t[0],Zt=on.length;let e=t;if(O==2){e=t.slice();let n=e[0]=Array(Zt);for(let e=0;e<Zt;e++)n[e]=e}r._data=t=e}if(gr(!0),fa(`setData`),O==2&&(Me=!0),n!==!1){let e=D;e.auto(r,ln)?dn():ii(S,e.min,e.max),Ne||=N.left>=0,Fe=!0,Sr()}}r.setData=un;function dn(){ln=!0;let e,n;i==1&&(Zt>0?(G=an[0]=0,Qt=an[1]=Zt-1,e=t[0][G],n=t[0][Qt],O==2?(e=G,n=Qt):e==n&&(O==3?[e,n]=en(e,e,D.log,!1):O==4?[e,n]=tn(e,e,D.log,!1):D.time?n=e+gn(86400/_):[e,n]=sn(e,n,nn,!0))):(G=an[0]=e=null,Qt=an[1]=n=null)),ii(S,e,n)}let fn,hn,xn,Cn,En,kn,An,Fn,In,Rn;function zn(e,t,n,r,i,a){e??=gt,n??=Wn,r??=`butt`,i??=gt,a??=`round`,e!=fn&&(d.strokeStyle=fn=e),i!=hn&&(d.fillStyle=hn=i),t!=xn&&(d.lineWidth=xn=t),a!=En&&(d.lineJoin=En=a),r!=kn&&(d.lineCap=kn=r),n!=Cn&&d.setLineDash(Cn=n)}function Hn(e,t,n,r){t!=hn&&(d.fillStyle=hn=t),e!=An&&(d.font=An=e),n!=Fn&&(d.textAlign=Fn=n),r!=In&&(d.textBaseline=In=r)}function qn(e,t,n,i,a=0){if(i.length>0&&e.auto(r,ln)&&(t==null||t.min==null)){let t=K(G,0),r=K(Qt,i.length-1),o=n.min==null?$t(i,t,r,a,e.distr==3):[n.min,n.max];e.min=vn(e.min,n.min=o[0]),e.max=yn(e.max,n.max=o[1])}}let Qn={min:null,max:null};function $n(){for(let e in b){let t=b[e];j[e]==null&&(t.min==null||j[S]!=null&&t.auto(r,ln))&&(j[e]=Qn)}for(let e in b){let t=b[e];j[e]==null&&t.from!=null&&j[t.from]!=null&&(j[e]=Qn)}j[S]!=null&&gr(!0);let e={};for(let t in j){let n=j[t];if(n!=null){let a=e[t]=er(b[t],Zn);if(n.min!=null)tr(a,n);else if(t!=S||i==2){if(Zt==0&&a.from==null){let e=a.range(r,null,null,t);a.min=e[0],a.max=e[1]}else a.min=q,a.max=-1/0}}}if(Zt>0){v.forEach((n,a)=>{if(i==1){let i=n.scale,o=j[i];if(o==null)return;let s=e[i];if(a==0){let e=s.range(r,s.min,s.max,i);s.min=e[0],s.max=e[1],G=Jt(s.min,t[0]),Qt=Jt(s.max,t[0]),Qt-G>1&&(t[0][G]<s.min&&G++,t[0][Qt]>s.max&&Qt--),n.min=on[G],n.max=on[Qt]}else n.show&&n.auto&&qn(s,o,n,t[a],n.sorted);n.idxs[0]=G,n.idxs[1]=Qt}else if(a>0&&n.show&&n.auto){let[r,i]=n.facets,o=r.scale,s=i.scale,[c,l]=t[a],u=e[o],d=e[s];u!=null&&qn(u,j[o],r,c,r.sorted),d!=null&&qn(d,j[s],i,l,i.sorted),n.min=i.min,n.max=i.max}});for(let t in e){let n=e[t],i=j[t];if(n.from==null&&(i==null||i.min==null)){let e=n.range(r,n.min==q?null:n.min,n.max==-1/0?null:n.max,t);n.min=e[0],n.max=e[1]}}}for(let t in e){let n=e[t];if(n.from!=null){let i=e[n.from];if(i.min==null)n.min=n.max=null;else{let e=n.range(r,i.min,i.max,t);n.min=e[0],n.max=e[1]}}}let n={},a=!1;for(let t in e){let r=e[t],i=b[t];if(i.min!=r.min||i.max!=r.max){i.min=r.min,i.max=r.max;let e=i.distr;i._min=e==3?Sn(i.min):e==4?Tn(i.min,i.asinh):e==100?i.fwd(i.min):i.min,i._max=e==3?Sn(i.max):e==4?Tn(i.max,i.asinh):e==100?i.fwd(i.max):i.max,n[t]=a=!0}}if(a){v.forEach((e,t)=>{i==2?t>0&&n.y&&(e._paths=null):n[e.scale]&&(e._paths=null)});for(let e in n)Me=!0,fa(`setScale`,e);F&&N.left>=0&&(Ne=Fe=!0)}for(let e in j)j[e]=null}function nr(e){let t=Dn(G-1,0,Zt-1),n=Dn(Qt+1,0,Zt-1);for(;e[t]==null&&t>0;)t--;for(;e[n]==null&&n<Zt-1;)n++;return[t,n]}function rr(){if(Zt>0){let e=v.some(e=>e._focus)&&Rn!=ht.alpha;e&&(d.globalAlpha=Rn=ht.alpha),v.forEach((e,n)=>{if(n>0&&e.show&&(ir(n,!1),ir(n,!0),e._paths==null)){let a=Rn;Rn!=e.alpha&&(d.globalAlpha=Rn=e.alpha);let o=i==2?[0,t[n][0].length-1]:nr(t[n]);e._paths=e.paths(r,n,o[0],o[1]),Rn!=a&&(d.globalAlpha=Rn=a)}}),v.forEach((e,t)=>{if(t>0&&e.show){let n=Rn;Rn!=e.alpha&&(d.globalAlpha=Rn=e.alpha),e._paths!=null&&ar(t,!1);{let n=e._paths==null?null:e._paths.gaps,i=e.points.show(r,t,G,Qt,n),a=e.points.filter(r,t,i,n);(i||a)&&(e.points._paths=e.points.paths(r,t,G,Qt,a),ar(t,!0))}Rn!=n&&(d.globalAlpha=Rn=n),fa(`drawSeries`,t)}}),e&&(d.globalAlpha=Rn=1)}}function ir(e,t){let n=t?v[e].points:v[e];n._stroke=n.stroke(r,e),n._fill=n.fill(r,e)}function ar(e,t){let n=t?v[e].points:v[e],{stroke:r,fill:i,clip:a,flags:o,_stroke:s=n._stroke,_fill:c=n._fill,_width:l=n.width}=n._paths;l=Y(l*U,3);let u=null,f=l%2/2;t&&c==null&&(c=l>0?`#fff`:s);let p=n.pxAlign==1&&f>0;if(p&&d.translate(f,f),!t){let e=Ee-l/2,t=De-l/2,n=Oe+l,r=ke+l;u=new Path2D,u.rect(e,t,n,r)}t?cr(s,l,n.dash,n.cap,c,r,i,o,a):or(e,s,l,n.dash,n.cap,c,r,i,o,u,a),p&&d.translate(-f,-f)}function or(e,n,i,a,o,s,c,l,u,d,f){let p=!1;u!=0&&x.forEach((m,h)=>{if(m.series[0]==e){let e=v[m.series[1]],g=t[m.series[1]],_=(e._paths||Un).band;Kn(_)&&(_=m.dir==1?_[0]:_[1]);let y,b=null;e.show&&_&&cn(g,G,Qt)?(b=m.fill(r,h)||s,y=e._paths.clip):_=null,cr(n,i,a,o,b,c,l,u,d,f,y,_),p=!0}}),p||cr(n,i,a,o,s,c,l,u,d,f)}function cr(e,t,n,r,i,a,o,s,c,l,u,f){zn(e,t,n,r,i),(c||l||f)&&(d.save(),c&&d.clip(c),l&&d.clip(l)),f?(s&3)==3?(d.clip(f),u&&d.clip(u),ur(i,o),lr(e,a,t)):s&Wi?(ur(i,o),d.clip(f),lr(e,a,t)):s&Ui&&(d.save(),d.clip(f),u&&d.clip(u),ur(i,o),d.restore(),lr(e,a,t)):(ur(i,o),lr(e,a,t)),(c||l||f)&&d.restore()}function lr(e,t,n){n>0&&(t instanceof Map?t.forEach((e,t)=>{d.strokeStyle=fn=t,d.stroke(e)}):t!=null&&e&&d.stroke(t))}function ur(e,t){t instanceof Map?t.forEach((e,t)=>{d.fillStyle=hn=t,d.fill(e)}):t!=null&&e&&d.fill(t)}function dr(e,t,n,i){let a=y[e],o;if(i<=0)o=[0,0];else{let s=a._space=a.space(r,e,t,n,i);o=Pa(t,n,a._incrs=a.incrs(r,e,t,n,i,s),i,s)}return a._found=o}function fr(e,t,n,r,i,a,o,s,c,l){let u=o%2/2;h==1&&d.translate(u,u),zn(s,o,c,l,s),d.beginPath();let f,p,m,g,_=i+(r==0||r==3?-a:a);n==0?(p=i,g=_):(f=i,m=_);for(let r=0;r<e.length;r++)t[r]!=null&&(n==0?f=m=e[r]:p=g=e[r],d.moveTo(f,p),d.lineTo(m,g));d.stroke(),h==1&&d.translate(-u,-u)}function pr(e){let t=!0;return y.forEach((n,i)=>{if(!n.show)return;let a=b[n.scale];if(a.min==null){n._show&&(t=!1,n._show=!1,gr(!1));return}n._show||(t=!1,n._show=!0,gr(!1));let o=n.side,s=o%2,{min:c,max:l}=a,[u,d]=dr(i,c,l,s==0?B:V);if(d==0)return;let f=a.distr==2,p=n._splits=n.splits(r,i,c,l,u,d,f),m=a.distr==2?p.map(e=>on[e]):p,h=a.distr==2?on[p[1]]-on[p[0]]:u,g=n._values=n.values(r,n.filter(r,m,i,d,h),i,d,h);n._rotate=o==2?n.rotate(r,g,i,d):0;let _=n._size;n._size=_n(n.size(r,g,i,e)),_!=null&&n._size!=_&&(t=!1)}),t}function mr(e){let t=!0;return Yt.forEach((n,i)=>{let a=n(r,i,Ht,e);a!=Xt[i]&&(t=!1),Xt[i]=a}),t}function hr(){for(let e=0;e<y.length;e++){let t=y[e];if(!t.show||!t._show)continue;let n=t.side,i=n%2,a,o,c=t.stroke(r,e),l=n==0||n==3?-1:1,[u,f]=t._found;if(t.label!=null){let s=t.labelGap*l,p=gn((t._lpos+s)*U);Hn(t.labelFont[0],c,`center`,n==2?dt:ft),d.save(),i==1?(a=o=0,d.translate(p,gn(De+ke/2)),d.rotate((n==3?-pn:pn)/2)):(a=gn(Ee+Oe/2),o=p);let m=On(t.label)?t.label(r,e,u,f):t.label;d.fillText(m,a,o),d.restore()}if(f==0)continue;let p=b[t.scale],m=i==0?Oe:ke,h=i==0?Ee:De,_=t._splits,v=p.distr==2?_.map(e=>on[e]):_,x=p.distr==2?on[_[1]]-on[_[0]]:u,S=t.ticks,C=t.border,w=S.show?S.size:0,T=gn(w*U),E=gn((t.alignTo==2?t._size-w-t.gap:t.gap)*U),D=t._rotate*-pn/180,O=g(t._pos*U),k=O+(T+E)*l;o=i==0?k:0,a=i==1?k:0;let A=t.font[0];Hn(A,c,t.align==1?pt:t.align==2?mt:D>0?pt:D<0?mt:i==0?`center`:n==3?mt:pt,D||i==1?`middle`:n==2?dt:ft);let j=t.font[1]*t.lineGap,ee=_.map(e=>g(s(e,p,m,h))),te=t._values;for(let e=0;e<te.length;e++){let t=te[e];if(t!=null){i==0?a=ee[e]:o=ee[e],t=``+t;let n=t.indexOf(`
`)==-1?[t]:t.split(/\n/gm);for(let e=0;e<n.length;e++){let t=n[e];D?(d.save(),d.translate(a,o+e*j),d.rotate(D),d.fillText(t,0,0),d.restore()):d.fillText(t,a,o+e*j)}}}S.show&&fr(ee,S.filter(r,v,e,f,x),i,n,O,T,Y(S.width*U,3),S.stroke(r,e),S.dash,S.cap);let ne=t.grid;ne.show&&fr(ee,ne.filter(r,v,e,f,x),i,i==0?2:1,i==0?De:Ee,i==0?ke:Oe,Y(ne.width*U,3),ne.stroke(r,e),ne.dash,ne.cap),C.show&&fr([O],[1],+(i==0),i==0?1:2,i==1?De:Ee,i==1?ke:Oe,Y(C.width*U,3),C.stroke(r,e),C.dash,C.cap)}fa(`drawAxes`)}function gr(e){v.forEach((t,n)=>{n>0&&(t._paths=null,e&&(i==1?(t.min=null,t.max=null):t.facets.forEach(e=>{e.min=null,e.max=null})))})}let _r=!1,vr=!1,br=[];function xr(){vr=!1;for(let e=0;e<br.length;e++)fa(...br[e]);br.length=0}function Sr(){_r||=(sr(wr),!0)}function Cr(e,t=!1){_r=!0,vr=t,e(r),wr(),t&&br.length>0&&queueMicrotask(xr)}r.batch=Cr;function wr(){if(Ae&&=($n(),!1),Me&&=(Re(),!1),je){if(W(p,pt,be),W(p,dt,xe),W(p,lt,B),W(p,ut,V),W(m,pt,be),W(m,dt,xe),W(m,lt,B),W(m,ut,V),W(f,lt,z),W(f,ut,ye),u.width=gn(z*U),u.height=gn(ye*U),y.forEach(({_el:e,_show:t,_size:n,_pos:r,side:i})=>{if(e!=null){if(t){let t=i===3||i===0?n:0,a=i%2==1;W(e,a?`left`:`top`,r-t),W(e,a?`width`:`height`,n),W(e,a?`top`:`left`,a?xe:be),W(e,a?`height`:`width`,a?V:B),Ft(e,Ze)}else Pt(e,Ze)}}),fn=hn=xn=En=kn=An=Fn=In=Cn=null,Rn=1,Yi(!0),be!=Se||xe!=Ce||B!=we||V!=Te){gr(!1);let e=B/we,t=V/Te;if(F&&!Ne&&N.left>=0){N.left*=e,N.top*=t,Ar&&zt(Ar,gn(N.left),0,B,V),jr&&zt(jr,0,gn(N.top),B,V);for(let n=0;n<Tt.length;n++){let r=Tt[n];r!=null&&(Ot[n]*=e,jt[n]*=t,zt(r,_n(Ot[n]),_n(jt[n]),B,V))}}if(Q.show&&!Pe&&Q.left>=0&&Q.width>0){Q.left*=e,Q.width*=e,Q.top*=t,Q.height*=t;for(let e in $i)W(ti,e,Q[e])}Se=be,Ce=xe,we=B,Te=V}fa(`setSize`),je=!1}z>0&&ye>0&&(d.clearRect(0,0,u.width,u.height),fa(`drawClear`),w.forEach(e=>e()),fa(`draw`)),Q.show&&Pe&&(ni(Q),Pe=!1),F&&Ne&&(Ki(null,!0,!1),Ne=!1),M.show&&M.live&&Fe&&(Vi(),Fe=!1),c||(c=!0,r.status=1,fa(`ready`)),ln=!1,_r=!1}r.redraw=(e,t)=>{Me=t||!1,e===!1?Sr():ii(S,D.min,D.max)};function Tr(e,n){let i=b[e];if(i.from==null){if(Zt==0){let t=i.range(r,n.min,n.max,e);n.min=t[0],n.max=t[1]}if(n.min>n.max){let e=n.min;n.min=n.max,n.max=e}if(Zt>1&&n.min!=null&&n.max!=null&&n.max-n.min<1e-16)return;e==S&&i.distr==2&&Zt>0&&(n.min=Jt(n.min,t[0]),n.max=Jt(n.max,t[0]),n.min==n.max&&n.max++),j[e]=n,Ae=!0,Sr()}}r.setScale=Tr;let Or,kr,Ar,jr,Mr,Nr,Pr,Fr,Ir,Lr,X,Z,qr=!1,Zr=N.drag,Qr=Zr.x,ei=Zr.y;F&&(N.x&&(Or=Lt($e,m)),N.y&&(kr=Lt(et,m)),D.ori==0?(Ar=Or,jr=kr):(Ar=kr,jr=Or),X=N.left,Z=N.top);let Q=r.select=tr({show:!0,over:!0,left:0,width:0,top:0,height:0},e.select),ti=Q.show?Lt(Qe,Q.over?m:p):null;function ni(e,t){if(Q.show){for(let t in e)Q[t]=e[t],t in $i&&W(ti,t,e[t]);t!==!1&&fa(`setSelect`)}}r.setSelect=ni;function ri(e){if(v[e].show)P&&Ft(ce[e],Ze);else if(P&&Pt(ce[e],Ze),F){let t=wt?Tt[0]:Tt[e];t!=null&&zt(t,-10,-10,B,V)}}function ii(e,t,n){Tr(e,{min:t,max:n})}function ai(e,t,n,a){t.focus!=null&&Ci(e),t.show!=null&&v.forEach((n,r)=>{r>0&&(e==r||e==null)&&(n.show=t.show,ri(r),i==2?(ii(n.facets[0].scale,null,null),ii(n.facets[1].scale,null,null)):ii(n.scale,null,null),Sr())}),n!==!1&&fa(`setSeries`,e,t),a&&ga(`setSeries`,r,e,t)}r.setSeries=ai;function oi(e,t){tr(x[e],t)}function ci(e,t){e.fill=J(e.fill||null),e.dir=K(e.dir,-1),t??=x.length,x.splice(t,0,e)}function li(e){e==null?x.length=0:x.splice(e,1)}r.addBand=ci,r.setBand=oi,r.delBand=li;function ui(e,t){v[e].alpha=t,F&&Tt[e]!=null&&(Tt[e].style.opacity=t),P&&ce[e]&&(ce[e].style.opacity=t)}let di,fi,pi,mi={focus:!0};function Ci(e){if(e!=pi){let t=e==null,n=ht.alpha!=1;v.forEach((r,a)=>{if(i==1||a>0){let i=t||a==0||a==e;r._focus=t?null:i,n&&ui(a,i?1:ht.alpha)}}),pi=e,n&&Sr()}}P&&Ct&&_e(xt,L,e=>{N._lock||(Ve(e),pi!=null&&ai(null,mi,!0,$.setSeries))});function wi(e,t,n){let r=b[t];n&&(e=e/U-(r.ori==1?xe:be));let i=B;r.ori==1&&(i=V,e=i-e),r.dir==-1&&(e=i-e);let a=r._min,o=r._max,s=e/i,c=a+(o-a)*s,l=r.distr;return l==3?bn(10,c):l==4?wn(c,r.asinh):l==100?r.bwd(c):c}function Ti(e,n){return Jt(wi(e,S,n),t[0],G,Qt)}r.valToIdx=e=>Jt(e,t[0]),r.posToIdx=Ti,r.posToVal=wi,r.valToPos=(e,t,n)=>b[t].ori==0?a(e,b[t],n?Oe:B,n?Ee:0):o(e,b[t],n?ke:V,n?De:0),r.setCursor=(e,t,n)=>{X=e.left,Z=e.top,Ki(null,t,n)};function Ei(e,t){W(ti,pt,Q.left=e),W(ti,lt,Q.width=t)}function Di(e,t){W(ti,dt,Q.top=e),W(ti,ut,Q.height=t)}let Ni=D.ori==0?Ei:Di,Pi=D.ori==1?Ei:Di;function Fi(){if(P&&M.live)for(let e=+(i==2);e<v.length;e++){if(e==0&&de)continue;let t=M.values[e],n=0;for(let r in t)le[e][n++].firstChild.nodeValue=t[r]}}function Vi(e,t){if(e!=null&&(e.idxs?e.idxs.forEach((e,t)=>{ae[t]=e}):Jn(e.idx)||ae.fill(e.idx),M.idx=ae[0]),P&&M.live){for(let e=0;e<v.length;e++)(e>0||i==1&&!de)&&Gi(e,ae[e]);Fi()}Fe=!1,t!==!1&&fa(`setLegend`)}r.setLegend=Vi;function Gi(e,n){let i=v[e],a=e==0&&O==2?on:t[e],o;de?o=i.values(r,e,n)??R:(o=i.value(r,n==null?null:a[n],e,n),o=o==null?R:{_:o}),M.values[e]=o}function Ki(e,n,a){Ir=X,Lr=Z,[X,Z]=N.move(r,X,Z),N.left=X,N.top=Z,F&&(Ar&&zt(Ar,gn(X),0,B,V),jr&&zt(jr,0,gn(Z),B,V));let o,s=G>Qt;di=q,fi=null;let c=D.ori==0?B:V,l=D.ori==1?B:V;if(X<0||Zt==0||s){o=N.idx=null;for(let e=0;e<v.length;e++){let t=Tt[e];t!=null&&zt(t,-10,-10,B,V)}Ct&&ai(null,mi,!0,e==null&&$.setSeries),M.live&&(ae.fill(o),Fe=!0)}else{let e,n,a;i==1&&(e=D.ori==0?X:Z,n=wi(e,S),o=N.idx=Jt(n,t[0],G,Qt),a=k(t[0][o],D,c,0));let s=-10,u=-10,d=0,f=0,p=!0,m=``,h=``;for(let e=+(i==2);e<v.length;e++){let g=v[e],_=ae[e],y=_==null?null:i==1?t[e][_]:t[e][1][_],x=N.dataIdx(r,e,o,n),S=x==null?null:i==1?t[e][x]:t[e][1][x];if(Fe=Fe||S!=y||x!=_,ae[e]=x,e>0&&g.show){let n=x==null?-10:x==o?a:k(i==1?t[0][x]:t[e][0][x],D,c,0),_=S==null?-10:A(S,i==1?b[g.scale]:b[g.facets[1].scale],l,0);if(Ct&&S!=null){let t=D.ori==1?X:Z,n=mn(ht.dist(r,e,x,_,t));if(n<di){let r=ht.bias;if(r!=0){let i=wi(t,g.scale),a=S>=0?1:-1,o=i>=0?1:-1;o==a&&(o==1?r==1?S>=i:S<=i:r==1?S<=i:S>=i)&&(di=n,fi=e)}else di=n,fi=e}}if(Fe||wt){let t,i;D.ori==0?(t=n,i=_):(t=_,i=n);let a,o,c,l,g,v,y=!0,b=He.bbox;if(b!=null){y=!1;let t=b(r,e);c=t.left,l=t.top,a=t.width,o=t.height}else c=t,l=i,a=o=He.size(r,e);if(v=He.fill(r,e),g=He.stroke(r,e),wt)e==fi&&di<=ht.prox&&(s=c,u=l,d=a,f=o,p=y,m=v,h=g);else{let t=Tt[e];t!=null&&(Ot[e]=c,jt[e]=l,Ut(t,a,o,y),Vt(t,v,g),zt(t,_n(c),_n(l),B,V))}}}}if(wt){let e=ht.prox;if(Fe||(pi==null?di<=e:di>e||fi!=pi)){let e=Tt[0];e!=null&&(Ot[0]=s,jt[0]=u,Ut(e,d,f,p),Vt(e,m,h),zt(e,_n(s),_n(u),B,V))}}}if(Q.show&&qr){if(e!=null){let[t,n]=$.scales,[r,i]=$.match,[a,o]=e.cursor.sync.scales,s=e.cursor.drag;if(Qr=s._x,ei=s._y,Qr||ei){let{left:s,top:u,width:d,height:f}=e.select,p=e.scales[a].ori,m=e.posToVal,h,g,_,v,y,x=t!=null&&r(t,a),S=n!=null&&i(n,o);x&&Qr?(p==0?(h=s,g=d):(h=u,g=f),_=b[t],v=k(m(h,a),_,c,0),y=k(m(h+g,a),_,c,0),Ni(vn(v,y),mn(y-v))):Ni(0,c),S&&ei?(p==1?(h=s,g=d):(h=u,g=f),_=b[n],v=A(m(h,o),_,l,0),y=A(m(h+g,o),_,l,0),Pi(vn(v,y),mn(y-v))):Pi(0,l)}else ea()}else{let e=mn(Ir-Mr),t=mn(Lr-Nr);if(D.ori==1){let n=e;e=t,t=n}Qr=Zr.x&&e>=Zr.dist,ei=Zr.y&&t>=Zr.dist;let n=Zr.uni;n==null?Zr.x&&Zr.y&&(Qr||ei)&&(Qr=ei=!0):Qr&&ei&&(Qr=e>=n,ei=t>=n,!Qr&&!ei&&(t>e?ei=!0:Qr=!0));let r,i;Qr&&(D.ori==0?(r=Pr,i=X):(r=Fr,i=Z),Ni(vn(r,i),mn(i-r)),ei||Pi(0,l)),ei&&(D.ori==1?(r=Pr,i=X):(r=Fr,i=Z),Pi(vn(r,i),mn(i-r)),Qr||Ni(0,c)),!Qr&&!ei&&(Ni(0,0),Pi(0,0))}}if(Zr._x=Qr,Zr._y=ei,e==null){if(a){if(ma!=null){let[e,t]=$.scales;$.values[0]=e==null?null:wi(D.ori==0?X:Z,e),$.values[1]=t==null?null:wi(D.ori==1?X:Z,t)}ga(_t,r,X,Z,B,V,o)}if(Ct){let e=a&&$.setSeries,t=ht.prox;pi==null?di<=t&&ai(fi,mi,!0,e):di>t?ai(null,mi,!0,e):fi!=pi&&ai(fi,mi,!0,e)}}Fe&&(M.idx=o,Vi()),n!==!1&&fa(`setCursor`)}let Ji=null;Object.defineProperty(r,"rect",{get(){return Ji??Yi(!1),Ji}});function Yi(e=!1){e?Ji=null:(Ji=m.getBoundingClientRect(),fa(`syncRect`,Ji))}function Xi(e,t,n,r,i,a,o){N._lock||qr&&e!=null&&e.movementX==0&&e.movementY==0||(Zi(e,t,n,r,i,a,o,!1,e!=null),e==null?Ki(t,!0,!1):Ki(null,!0,!0))}function Zi(e,t,n,i,a,o,c,l,u){if(Ji??Yi(!1),Ve(e),e!=null)n=e.clientX-Ji.left,i=e.clientY-Ji.top;else{if(n<0||i<0){X=-10,Z=-10;return}let[e,r]=$.scales,c=t.cursor.sync,[l,u]=c.values,[d,f]=c.scales,[p,m]=$.match,h=t.axes[0].side%2==1,g=D.ori==0?B:V,_=D.ori==1?B:V,v=h?o:a,y=h?a:o,x=h?i:n,S=h?n:i;if(n=d==null?x/v*g:p(e,d)?s(l,b[e],g,0):-10,i=f==null?S/y*_:m(r,f)?s(u,b[r],_,0):-10,D.ori==1){let e=n;n=i,i=e}}u&&(t==null||t.cursor.event.type==_t)&&((n<=1||n>=B-1)&&(n=Ln(n,B)),(i<=1||i>=V-1)&&(i=Ln(i,V))),l?(Mr=n,Nr=i,[Pr,Fr]=N.move(r,n,i)):(X=n,Z=i)}let $i={width:0,height:0,left:0,top:0};function ea(){ni($i,!1)}let ta,na,ra,ia;function aa(e,t,n,i,a,o,s){qr=!0,Qr=ei=Zr._x=Zr._y=!1,Zi(e,t,n,i,a,o,s,!0,!1),e!=null&&(_e(yt,kt,oa,!1),ga(vt,r,Pr,Fr,B,V,null));let{left:c,top:l,width:u,height:d}=Q;ta=c,na=l,ra=u,ia=d}function oa(e,t,n,i,a,o,s){qr=Zr._x=Zr._y=!1,Zi(e,t,n,i,a,o,s,!1,!0);let{left:c,top:l,width:u,height:d}=Q,f=u>0||d>0,p=ta!=c||na!=l||ra!=u||ia!=d;if(f&&p&&ni(Q),Zr.setScale&&f&&p){let e=c,t=u,n=l,r=d;if(D.ori==1&&(e=l,t=d,n=c,r=u),Qr&&ii(S,wi(e,S),wi(e+t,S)),ei)for(let e in b){let t=b[e];e!=S&&t.from==null&&t.min!=q&&ii(e,wi(n+r,e),wi(n,e))}ea()}else N.lock&&(N._lock=!N._lock,Ki(t,!0,e!=null));e!=null&&(ve(yt,kt),ga(yt,r,X,Z,B,V,null))}function sa(e,t,n,r,i,a,o){if(N._lock)return;Ve(e);let s=qr;if(qr){let e=!0,t=!0,n,r;D.ori==0?(n=Qr,r=ei):(n=ei,r=Qr),n&&r&&(e=X<=10||X>=B-10,t=Z<=10||Z>=V-10),n&&e&&(X=X<Pr?0:B),r&&t&&(Z=Z<Fr?0:V),Ki(null,!0,!0),qr=!1}X=-10,Z=-10,ae.fill(null),Ki(null,!0,!0),s&&(qr=s)}function ca(e,t,n,i,a,o,s){N._lock||(Ve(e),dn(),ea(),e!=null&&ga(St,r,X,Z,B,V,null))}function la(){y.forEach(Ia),Ie(r.width,r.height,!0)}Kt(Et,At,la);let ua={};ua.mousedown=aa,ua.mousemove=Xi,ua.mouseup=oa,ua.dblclick=ca,ua.setSeries=(e,t,n,i)=>{let a=$.match[2];n=a(r,t,n),n!=-1&&ai(n,i,!0,!1)},F&&(_e(vt,m,aa),_e(_t,m,Xi),_e(bt,m,e=>{Ve(e),Yi(!1)}),_e(xt,m,sa),_e(St,m,ca),ba.add(r),r.syncRect=Yi);let da=r.hooks=e.hooks||{};function fa(e,t,n){vr?br.push([e,t,n]):e in da&&da[e].forEach(e=>{e.call(null,r,t,n)})}(e.plugins||[]).forEach(e=>{for(let t in e.hooks)da[t]=(da[t]||[]).concat(e.hooks[t])});let pa=(e,t,n)=>n,$=tr({key:null,setSeries:!1,filters:{pub:Nn,sub:Nn},scales:[S,v[1]?v[1].scale:null],match:[Pn,Pn,pa],values:[null,null]},N.sync);$.match.length==2&&$.match.push(pa),N.sync=$;let ma=$.key,ha=Hi(ma);function ga(e,t,n,r,i,a,o){$.filters.pub(e,t,n,r,i,a,o)&&ha.pub(e,t,n,r,i,a,o)}ha.sub(r);function _a(e,t,n,r,i,a,o){$.filters.sub(e,t,n,r,i,a,o)&&ua[e](null,t,n,r,i,a,o)}r.pub=_a;function va(){ha.unsub(r),ba.delete(r),ge.clear(),qt(Et,At,la),l.remove(),L?.remove(),fa(`destroy`)}r.destroy=va;function ya(){fa(`init`,e,t),un(t||e.data,!1),j[S]?Tr(S,j[S]):dn(),Pe=Q.show&&(Q.width>0||Q.height>0),Ne=Fe=!0,Ie(e.width,e.height)}return v.forEach(Nt),y.forEach(Wt),n?n instanceof HTMLElement?(n.appendChild(l),ya()):n(r,ya):ya(),r}La.assign=tr,La.fmtNum=dn,La.rangeNum=sn,La.rangeLog=en,La.rangeAsinh=tn,La.orient=Gi,La.pxRatio=U,La.join=or,La.fmtDate=yr,La.tzDate=xr,La.sync=Hi;{La.addGap=Xi,La.clipGaps=Yi;let e=La.paths={points:ua};e.linear=$,e.stepped=ma,e.bars=ga,e.spline=va}function Ra(){let e=getComputedStyle(document.documentElement),t=t=>e.getPropertyValue(`--${t}`).trim();return{text:t(`text`),faint:t(`faint`),grid:t(`grid`),edge:t(`edge`),card:t(`card`),share:t(`share`),series:Array.from({length:9},(e,n)=>t(`series-${n}`))}}function za(e){let t=[[],[7,4],[2,3],[9,3,2,3]];return t[Math.floor(e/9)%t.length]??[]}function Ba(e){let t=matchMedia(`(prefers-color-scheme: dark)`);return t.addEventListener(`change`,e),()=>t.removeEventListener(`change`,e)}function Va(){return matchMedia(`(prefers-reduced-motion: reduce)`).matches}var Ha=`12px system-ui, sans-serif`;function Ua(e,t){return(e.colour??t)%9}function Wa(e,t,n){let r=Ra(),i={stroke:r.faint,grid:{stroke:r.grid,width:1},ticks:{stroke:r.grid},font:Ha};return{width:t,height:e.height??200,legend:{show:!1},cursor:{drag:{x:!1,y:!1},points:{show:!1},...e.cursor?{sync:{key:e.cursor}}:{}},scales:{x:{time:!1,range:(e,t,r)=>n().span??[t??0,r??1]},y:{distr:e.isLogarithmic?3:1,range:(t,r,i)=>n().range??Ga(r,i,e.isLogarithmic??!1)}},axes:[{...i,values:(e,t)=>t.map(e=>n().timeText?.(e)??`${Number(e.toFixed(6))} s`),size:28},{...i,values:(t,n)=>n.map(t=>t===null?``:Ie(e.format(t))),size:76}],series:[{},...e.series.map((e,t)=>({label:e.name,stroke:e.isMark?r.share:r.series[Ua(e,t)]??r.text,width:e.width??(e.isMark?1.5:1.75),dash:e.dash??(e.isMark?[6,4]:za(e.colour??t)),points:{show:!1},spanGaps:!1}))]}}function Ga(e,t,n){if(n)return[Math.max(1e-9,e??.001),Math.max(1e-8,(t??1)*1.2)];let r=t&&t>0?t*1.06:1;return[Math.min(0,e??0),r]}function Ka(e){return e.map(e=>{for(let t=0;t<e.length;t+=1)if(Number.isNaN(e[t]??0))return Array.from(e,e=>Number.isNaN(e??0)?null:e);return e})}function qa(e){let t=V(null),n=V(null),r=V(e);r.current=e;let[i,a]=z(new Set),o=e.series.map(e=>e.name).join(`
`);B(()=>{let e=t.current;if(!e)return;let a=()=>{n.current?.destroy();let t=Wa(r.current,e.clientWidth,()=>r.current);n.current=new La(t,Ka(r.current.data()),e),r.current.series.forEach((e,t)=>{i.has(Ja(e))&&n.current?.setSeries(t+1,{show:!1})})};a();let o=new ResizeObserver(()=>{let t=e.clientWidth;t>0&&n.current&&n.current.width!==t&&n.current.setSize({width:t,height:r.current.height??200})});o.observe(e);let s=Ba(a);return()=>{s(),o.disconnect(),n.current?.destroy(),n.current=null}},[o,e.isLogarithmic]),B(()=>{n.current?.setData(Ka(e.data()))},[e.version,o,e.span?.[0],e.span?.[1]]);let s=t=>{let r=new Set(i);r.delete(t)||r.add(t),a(r),n.current?.batch(()=>{e.series.forEach((e,i)=>{Ja(e)===t&&n.current?.setSeries(i+1,{show:!r.has(t)})})})},c=be(()=>H(Za,{...e}),[Math.floor(performance.now()/1e3),o]);return H(`figure`,{class:`line-chart`,"aria-label":e.title,children:[H(`div`,{class:`axis-name`,"aria-hidden":`true`,children:e.axis}),H(`div`,{class:`plot`,ref:t,"aria-hidden":`true`}),(e.hasLegend??!0)&&H(Ya,{series:e.series,hidden:i,toggle:s}),c]})}function Ja(e){return e.group??e.name}function Ya(e){let t=new Map;return e.series.forEach((e,n)=>{t.has(Ja(e))||t.set(Ja(e),{series:e,index:n})}),H(`ul`,{class:`legend`,children:[...t].map(([t,{series:n,index:r}])=>H(`li`,{children:H(`button`,{type:`button`,class:`entry`,"aria-pressed":!e.hidden.has(t),title:`hide or show ${t}`,onClick:()=>e.toggle(t),children:[H(Xa,{series:n,index:r}),t]})},t))})}function Xa(e){let{series:t,index:n}=e,r=t.dash??(t.isMark?[6,4]:za(t.colour??n));return H(`svg`,{class:`key`,width:`22`,height:`8`,"aria-hidden":`true`,children:H(`line`,{class:t.isMark?`share`:`series-${Ua(t,n)}`,x1:`1`,x2:`21`,y1:`4`,y2:`4`,"stroke-width":`2.5`,"stroke-dasharray":r.join(` `)})})}function Za(e){let[t,...n]=e.data(),r=(t?.length??0)-1,i=e.timeText??(e=>`${e.toFixed(2)} s`),a=t=>t==null||Number.isNaN(t)?`none`:e.format(t);return H(`div`,{class:`unseen`,children:H(`table`,{children:[H(`caption`,{children:[e.title,`: `,e.axis,`; the last values are of `,i(t?.[r]??0)]}),H(`thead`,{children:H(`tr`,{children:[H(`th`,{scope:`col`,children:`line`}),H(`th`,{scope:`col`,children:`last`}),H(`th`,{scope:`col`,children:`greatest`})]})}),H(`tbody`,{children:e.series.map((e,t)=>H(`tr`,{children:[H(`th`,{scope:`row`,children:e.name}),H(`td`,{children:a(n[t]?.[r])}),H(`td`,{children:a(Qa(n[t]))})]},e.name))})]})})}function Qa(e){let t=null;for(let n=0;n<(e?.length??0);n+=1){let r=e?.[n];typeof r==`number`&&!Number.isNaN(r)&&(t===null||r>t)&&(t=r)}return t}var $a=6,eo=108,to=16,no=20;function ro(e,t){let n=e.map(e=>e.delivered),r=Math.max(t??0,...n,...e.map(e=>ao(e.demand)));return Math.min(r,4*Math.max(t??0,...n))*1.08||1}function io(e){let t=e.height??200,n=V(null),[r,i]=z(400);B(()=>{let e=n.current;if(!e)return;let t=new ResizeObserver(()=>i(Math.max(200,e.clientWidth)));return t.observe(e),()=>t.disconnect()},[]);let{levels:a,share:o}=e,s=e.top??ro(a,o),c=e=>to+(t-to-no)*(1-Math.min(e,s)/s),l=(r-$a-eo)/Math.max(1,a.length),u=Math.max(1,Math.min(60,l*.8)),d=c(0);return H(`figure`,{class:`waterline`,"aria-label":e.title,ref:n,children:[H(`svg`,{viewBox:`0 0 ${r} ${t}`,height:t,"aria-hidden":`true`,class:`waterline-picture`,children:[a.map((n,r)=>{let i=$a+l*(r+.5)-u/2,a=Number.isFinite(n.demand)?c(n.demand):10,o=c(n.delivered);return H(`g`,{onClick:()=>e.onPick?.(n.name),children:[H(`title`,{children:oo(n,e)}),H(`rect`,{class:`demand`,x:i,y:a,width:u,height:Math.max(0,d-a)}),H(`rect`,{class:`series-${(n.colour??0)%9}`,x:i,y:o,width:u,height:Math.max(0,d-o)}),n.share!==void 0&&H(`line`,{class:`share`,x1:i-2,x2:i+u+2,y1:c(n.share),y2:c(n.share),"stroke-width":`2`}),l>=34&&H(`text`,{x:i+u/2,y:t-5,"text-anchor":`middle`,children:n.name.length*6.4>l?`${n.name.slice(0,Math.floor(l/6.4)-1)}…`:n.name})]},n.name)}),H(`line`,{class:`base`,x1:$a,x2:r-eo,y1:d,y2:d}),o!==void 0&&H(`g`,{children:[H(`line`,{class:`share`,x1:0,x2:r-eo+6,y1:c(o),y2:c(o),"stroke-width":`2`}),H(`text`,{class:`share-text`,x:r-eo+10,y:c(o)-4,children:`fair share`}),H(`text`,{class:`share-text`,x:r-eo+10,y:c(o)+11,children:e.format(o)})]})]}),H(`div`,{class:`unseen`,children:H(`table`,{children:[H(`caption`,{children:e.title}),H(`thead`,{children:H(`tr`,{children:[H(`th`,{scope:`col`,children:`who`}),H(`th`,{scope:`col`,children:`wants`}),H(`th`,{scope:`col`,children:`gets`}),H(`th`,{scope:`col`,children:`fair share`})]})}),H(`tbody`,{children:a.slice(0,100).map(t=>H(`tr`,{children:[H(`th`,{scope:`row`,children:t.name}),H(`td`,{children:Number.isFinite(t.demand)?e.format(t.demand):`all there is`}),H(`td`,{children:e.format(t.delivered)}),H(`td`,{children:so(t,e)})]},t.name))})]})})]})}function ao(e){return Number.isFinite(e)?e:0}function oo(e,t){let n=Number.isFinite(e.demand)?t.format(e.demand):`all there is`;return`${e.name}: gets ${t.format(e.delivered)}, wants ${n}, fair ${so(e,t)}`}function so(e,t){let n=e.share??t.share;return n===void 0?`not worked out`:t.format(n)}var co=200;function lo(e){let[t,n]=z(e.text),[r,i]=z(null),a=V(e.text);a.current=e.text,B(()=>{n(e.text),p(!1)},[e.text]);let{min:o,max:s,value:c}=e,l=e.isLogarithmic??!1,u=e=>l?co*Math.log(e/o)/Math.log(s/o):e,d=e=>l?o*(s/o)**(e/co):e,[f,p]=z(!1),m=async()=>{t.trim()!==``&&t!==e.text?p(!await e.change(t.trim())):p(!1)},h=t=>{i(t),n(e.write(d(t)))},g=async t=>{await e.change(e.write(d(t))),p(!1),i(null),n(a.current)};return H(`div`,{class:`slider`,children:[H(`label`,{children:[H(`span`,{children:e.label}),H(`input`,{type:`text`,value:t,"aria-label":`${e.label}, as text`,"aria-invalid":f,onInput:e=>n(e.currentTarget.value),onBlur:()=>void m(),onKeyDown:e=>e.key===`Enter`&&void m()})]}),f&&H(`p`,{class:`refused small`,children:[`not allowed; the run has `,e.text]}),c!==null&&H(`input`,{type:`range`,"aria-label":e.label,"aria-valuetext":e.text,min:l?0:o,max:l?co:s,step:l?1:e.step??1,value:r??u(Math.min(s,Math.max(o,c))),onInput:e=>h(Number(e.currentTarget.value)),onChange:e=>void g(Number(e.currentTarget.value))})]})}function uo(e){return H(`label`,{class:`choice`,children:[H(`span`,{children:e.label}),H(`select`,{value:e.value,onChange:t=>e.change(t.currentTarget.value),children:e.options.map(({name:e,text:t})=>H(`option`,{value:e,children:t},e))})]})}var fo={"bit/s":1,"kbit/s":1e3,"Mbit/s":1e6,"Gbit/s":1e9,s:1,ms:.001,us:1e-6,ns:1e-9,packets:1,packet:1,B:1,kB:1e3,KiB:1024,MB:1e6,MiB:1048576};function po(e){if(typeof e==`number`)return e;let t=mo(e),n=t?fo[t.unit]:void 0;return t&&n!==void 0?t.number*n:null}function mo(e){let t=typeof e==`string`?/^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/]+)\s*$/.exec(e):null;return t?{number:Number(t[1]),unit:t[2]??``}:null}var ho={packets:[5,2e3],packet:[5,2e3],B:[7500,3e6],kB:[7.5,3e3],KiB:[7.5,3e3],MB:[.0075,3],MiB:[.0075,3],s:[.001,2],ms:[1,2e3],us:[1e3,2e6],bdp:[.1,10]};function go(e){let t=mo(e),n=t?ho[t.unit]:void 0;if(!t||!n)return null;let{number:r,unit:i}=t,a=i.startsWith(`packet`)||i===`B`;return{value:r,min:n[0],max:n[1],write:e=>i.startsWith(`packet`)?vo.packets(e):`${a?Math.round(e):_o(e)} ${i}`}}var _o=e=>String(Number(e.toPrecision(3))),vo={rate:e=>e>=1e6?`${_o(e/1e6)} Mbit/s`:`${_o(e/1e3)} kbit/s`,time:e=>e>=1?`${_o(e)} s`:`${_o(e*1e3)} ms`,packets:e=>`${Math.max(1,Math.round(Number(e.toPrecision(3))))} packets`,count:e=>String(Math.round(e))},yo=e=>typeof e==`object`&&!Array.isArray(e),bo=e=>Array.isArray(e)&&e.length>0&&e.every(yo);function xo(e){return/^[A-Za-z0-9_-]+$/.test(e)?e:JSON.stringify(e)}function So(e){return typeof e==`string`?JSON.stringify(e):Array.isArray(e)?`[${e.map(So).join(`, `)}]`:yo(e)?`{ ${Object.entries(e).map(([e,t])=>`${xo(e)} = ${So(t)}`).join(`, `)} }`:String(e)}function Co(e){let t=Object.entries(e),n=t.filter(([,e])=>!yo(e)&&!bo(e)).map(([e,t])=>`${xo(e)} = ${So(t)}`);for(let[e,r]of t)if(yo(r))n.push(``,`[${xo(e)}]`,...wo(r));else if(bo(r)&&e!==`disciplines`)for(let t of r)n.push(``,`[[${xo(e)}]]`,...wo(t));else bo(r)&&n.unshift(`${xo(e)} = ${So(r)}`);return`${n.join(`
`)}\n`}function wo(e){return Object.entries(e).map(([e,t])=>`${xo(e)} = ${So(t)}`)}function To(e,t){return!Array.isArray(e)||typeof t==`number`?t:e.findIndex(e=>yo(e)&&e.group===t)}function Eo(e,t){let n=e;for(let e of t){if(n===void 0||typeof n!=`object`)return;n=n[To(n,e)]}return n}function Do(e,t,n){let r=structuredClone(e),i=r;for(let e of t.slice(0,-1)){let t=To(i,e),n=i[t];(n===void 0||typeof n!=`object`)&&(i[t]={}),i=i[t]}let a=t[t.length-1];if(a===void 0)return r;let o=To(i,a);return n===void 0?delete i[o]:i[o]=n,r}var Oo=e=>e===void 0?``:typeof e==`object`?JSON.stringify(e):String(e);function ko(e){return H(`div`,{class:`contest`,children:[H(Po,{...e}),H(Ao,{...e}),H(Bo,{...e})]})}function Ao(e){let{document:t}=e.about,n=t.link,r=t.network;return yo(n)?H(`fieldset`,{children:[H(`legend`,{children:`Link`}),H(jo,{...e,path:[`link`],table:n}),H(lo,{label:`delay, one way`,text:Oo(n.delay),value:po(n.delay),min:.001,max:.2,isLogarithmic:!0,write:vo.time,change:t=>e.edit([`link`,`delay`],t)})]}):Array.isArray(n)?H(y,{children:n.map((t,n)=>{let r=Oo(t.name)||`${Oo(t.from)}-${Oo(t.to)}`;return t.buffer===void 0?null:H(`fieldset`,{children:[H(`legend`,{children:[`Link `,r]}),H(jo,{...e,path:[`link`,n],table:t})]},r)})}):yo(r)?H(y,{children:Object.entries(r).map(([t,n])=>yo(n)?H(`fieldset`,{children:[H(`legend`,{children:[`Links of the `,t]}),H(jo,{...e,path:[`network`,t],table:n})]},t):null)}):null}function jo(e){let{path:t,table:n,edit:r}=e,i=n.trace===void 0?Object.keys(n).filter(e=>e===`rate`||e.endsWith(`_rate`)):[],a=go(n.buffer);return H(y,{children:[i.map(e=>H(lo,{label:e.replace(`_`,` `),text:Oo(n[e]),value:po(n[e]),min:1e6,max:1e8,isLogarithmic:!0,write:vo.rate,change:n=>r([...t,e],n)},e)),n.buffer!==void 0&&H(lo,{label:`buffer`,text:Oo(n.buffer),value:a?.value??null,min:a?.min??1,max:a?.max??2,isLogarithmic:!0,write:a?.write??String,change:e=>r([...t,`buffer`],e)})]})}function Mo(e){let t=e.document.disciplines??e.disciplines;return e.disciplines.map((e,n)=>{let r=t[n]??e;if(!yo(r))return{label:e,name:Oo(r),path:[`discipline`,No(Oo(r))],typed:r};let i=Object.keys(r).find(e=>e!==`label`)??e;return{label:e,name:i,path:[`disciplines`,n,i],typed:r}})}var No=e=>e.split(`+`).pop()??e;function Po({about:e,parts:t,edit:n}){let r=t.filter(e=>e.kind===`discipline`),i=Mo(e),a=i.map(e=>e.label),o=r.map(e=>e.name),s=e.sides.slice(0,2),c=[...new Set([...a,...o])],l=e=>{let t=s[1-e];return c.map(e=>({name:e,text:e===t?`${e}, with settings of its own`:e}))},u=(e,t)=>{let r=[...s];t===``?r.splice(e,1):r[e]=t===s[1-e]?Fo(i.find(e=>e.label===t)?.name??t,a):t,n([`disciplines`],r.map(e=>i.find(t=>t.label===e)?.typed??e))};return H(`fieldset`,{children:[H(`legend`,{children:`Disciplines`}),H(uo,{label:`A`,value:s[0]??``,options:l(0),change:e=>u(0,e)}),H(uo,{label:`B`,value:s[1]??``,options:[{name:``,text:`none`},...l(1)],change:e=>u(1,e)}),s.map(t=>{let a=i.find(({label:e})=>e===t),o=a&&r.find(({name:e})=>e===No(a.name));return a&&o&&H(Io,{entry:a,part:o,about:e,edit:n},t)})]})}function Fo(e,t){let n=e.replace(/[^A-Za-z0-9_-]/g,`-`),r=2;for(;t.includes(`${n}-${r}`);)r+=1;return{[e]:{},label:`${n}-${r}`}}function Io(e){let{entry:t,part:n,about:r,edit:i}=e,a=n.fields.filter(e=>!(t.name.includes(`+`)&&e.name===`scheduler`));if(a.length===0)return null;let o=Eo(r.document,t.path),s=yo(o)?Object.entries(o).map(([e,t])=>`${e} = ${Oo(t)}`):[];return H(`details`,{children:[H(`summary`,{children:[`parameters of `,t.label,s.length>0&&H(`span`,{class:`faint`,children:[`: `,s.join(`, `)]})]}),H(`p`,{class:`faint small`,children:Lo(n.summary)}),a.map(e=>{let n=[...t.path,e.name];return H(`div`,{class:`parameter`,children:[H(`label`,{children:[H(`span`,{children:e.name}),H(`input`,{type:`text`,value:Oo(Eo(r.document,n)),placeholder:Lo(e.default),onChange:e=>void i(n,Ro(e.currentTarget.value))})]}),H(`p`,{class:`faint small`,children:e.range?`${Lo(e.text).replace(/\.$/,``)} (${Lo(e.range)}).`:Lo(e.text)})]},e.name)})]})}function Lo(e){return e.replace(/\[([^\]]*)\]\([^)]*\)/g,`$1`).replace(/\[(`[^`]*`)\]/g,`$1`).replace(/[`*]/g,``)}function Ro(e){let t=e.trim();if(t!==``)return t===`true`||t===`false`?t===`true`:Number.isFinite(Number(t))?Number(t):t}var zo=e=>e.flow??[];function Bo({about:e,parts:t,edit:n,refuse:r}){let i=zo(e.document),a=e=>n([`flow`],n=>{let r=zo(n),i=r.map(e=>Oo(e.group)),a=e;for(let t=2;i.includes(a);t+=1)a=`${e}-${t}`;return[...r,Vo(a,e,t)]});return H(`fieldset`,{children:[H(`legend`,{children:`Who sends`}),i.map(a=>H(Uo,{group:a,about:e,parts:t,edit:n,refuse:r,isLast:i.length===1},Oo(a.group))),H(`div`,{class:`add`,children:[H(`span`,{class:`faint small`,children:`add`}),[[`bulk`,`TCP`],[`cbr`,`UDP`],[`web`,`web`],[`voip`,`call`]].map(([e,t])=>H(`button`,{type:`button`,onClick:()=>void a(e??``),children:[`+ `,t]},e))]})]})}function Vo(e,t,n){let r=n.find(e=>e.kind===`source`&&e.name===t),i=r?.is_tcp?{tcp:{control:`cubic`,recovery:`sack`}}:{};return{group:e,source:r?.typed??t,...i,access:{rate:`100 Mbit/s`,delay:`5 ms`}}}function Ho(e){return typeof e==`object`&&!Array.isArray(e)?Object.keys(e)[0]??``:Oo(e)}function Uo({group:e,about:t,parts:n,edit:r,refuse:i,isLast:a}){let o=Oo(e.group),s=Ho(e.source),c=n.find(e=>e.kind===`source`&&e.name===s),l=(...e)=>[`flow`,o,...e],u=Eo(e,[`source`,s,`rate`]),d=()=>r([`flow`],e=>zo(e).filter(e=>e.group!==o)),f=n.filter(e=>e.kind===`source`&&e.name!==`replay`);return H(`div`,{class:`sender`,role:`group`,"aria-label":`senders ${o}`,children:[H(`div`,{class:`sender-head`,children:[H(`strong`,{children:o}),H(`button`,{type:`button`,class:`quiet`,disabled:a,"aria-label":`remove ${o}`,onClick:()=>void d(),children:`remove`})]}),H(uo,{label:`sends`,value:s,options:f.map(e=>({name:e.name,text:e.is_tcp?`${e.name} (TCP)`:`${e.name} (UDP)`})),change:t=>{let{access:i,start:a,count:s}=e,c=Vo(o,t,n);r(l(),{...c,access:i??c.access??{},...a?{start:a}:{},...s?{count:s}:{}})}}),c?.is_tcp&&H(Wo,{group:e,path:l,parts:n,edit:r}),H(lo,{label:`how many`,text:Oo(e.count??1),value:Number(e.count??1),min:1,max:50,write:vo.count,change:e=>r(l(`count`),Ro(e))}),u!==void 0&&H(lo,{label:`rate`,text:Oo(u),value:po(u),min:1e5,max:1e8,isLogarithmic:!0,write:vo.rate,change:e=>r(l(`source`,s,`rate`),e)}),H(Go,{group:e,about:t,path:l,edit:r,refuse:i})]})}function Wo(e){return H(uo,{label:`TCP`,value:Ho(Eo(e.group,[`tcp`,`control`]))||`reno`,options:e.parts.filter(e=>e.kind===`controller`).map(e=>({name:e.name,text:e.name})),change:t=>{let n=e.group.tcp??{};e.edit(e.path(`tcp`),{...n,control:t,...t===`reno`?{}:{recovery:`sack`}})}})}function Go(e){let t=po(Eo(e.about.document,[`link`,`delay`])),n=po(Eo(e.group,[`access`,`delay`]));if(t===null||n===null)return H(lo,{label:`own delay, one way`,text:Oo(Eo(e.group,[`access`,`delay`])),value:null,min:0,max:1,write:vo.time,change:t=>e.edit(e.path(`access`,`delay`),t)});let r=2*t;return H(lo,{label:`RTT without queue`,text:vo.time(r+4*n),value:r+4*n,min:Math.max(.002,r),max:r+.4,isLogarithmic:!0,write:vo.time,change:t=>{let n=po(t);if(n!==null&&n<r)return e.refuse(`The RTT without queue is \`${t}\`, but the link alone has ${vo.time(r)}; allowed: at least that, or a shorter delay of the link.`);let i=n===null?null:(n-r)/4;return e.edit(e.path(`access`,`delay`),i===null?t:`${Number((i*1e3).toPrecision(4))} ms`)}})}async function Ko(){let e=await(await fetch(`./server.json`)).json();return{hasPlayer:e.hasPlayer===!0,hasKernel:e.hasKernel===!0,scenario:typeof e.scenario==`string`?e.scenario:null}}async function qo(e,t){if(t(`page`)&&typeof WebAssembly==`object`&&typeof DecompressionStream==`function`)try{return await Yo()}catch(t){if(!e.hasPlayer)throw t}if(!e.hasPlayer)throw Error("this browser has no WebAssembly, and no process serves this page: run `fairwire play`");return Xo()}var Jo=new TextDecoder;async function Yo(){let e=new Worker(new URL(new URL(`worker.js`,import.meta.url).href,``+import.meta.url),{type:`module`}),t=new Map,n=0,r=e=>{for(let{reject:n}of t.values())n(Error(e));t.clear()};e.onmessage=({data:e})=>{let n=t.get(e.id);t.delete(e.id),e.isError?n?.reject(Error(Jo.decode(e.bytes))):n?.resolve(e.bytes)},e.onerror=e=>r(`the simulator stopped: ${e.message}`);let i=(r,i)=>new Promise((a,o)=>{n+=1,t.set(n,{resolve:a,reject:o}),e.postMessage({id:n,name:r,input:i===void 0?``:JSON.stringify(i)})});return await i(`catalogue`),{place:`in this page (WebAssembly)`,call:i}}function Xo(){let e=crypto.getRandomValues(new Uint32Array(2)).join(`-`);return{place:`in the process that serves this page`,call:async(t,n)=>{let r=n===void 0?``:JSON.stringify(n),i=await fetch(`./player/${e}/${t}`,{method:`POST`,body:r}),a=new Uint8Array(await i.arrayBuffer());if(!i.ok)throw Error(Jo.decode(a));return a}}}async function Zo(e,t,n){return JSON.parse(Jo.decode(await e.call(t,n)))}var Qo=[{name:`lab`,text:`kernel`,dash:[]},{name:`sim`,text:`simulated`,dash:[4,3]}];async function $o(e){let t=await fetch(`./kernel`,{method:`POST`,body:e}),n=await t.text();if(!t.ok)throw Error(n);return n}function es(e,t){let n=ts(e),r=[...new Set(t.flows.map(e=>e.group))];return[...n].map(([e,t])=>{let n=r.flatMap((e,t)=>Qo.map(n=>({group:e,colour:t,stage:n})));return{title:`On this machine's kernel, under ${e}`,axis:`rate of each group: kernel, and simulated (dashed)`,series:n.map(({group:e,colour:t,stage:n})=>({name:`${e}, ${n.text}`,colour:t,dash:n.dash})),data:()=>{let e=Float64Array.from(t.times).sort();return[e,...n.map(({group:n,stage:r})=>{let i=t.rates.get(`${r.name} ${n}`);return e.map(e=>i?.get(e)??NaN)})]},format:Me}})}function ts(e){let t=new Map;for(let n of e.split(`
`).slice(1)){let[e=``,r=``,,i=``,a,o=``,s,,c=``]=n.split(`,`);if(a!==`group`||s!==`egress`)continue;let l=t.get(e)??{times:new Set,rates:new Map};t.set(e,l),l.times.add(Number(i));let u=`${r} ${o}`,d=l.rates.get(u)??new Map;l.rates.set(u,d),d.set(Number(i),Number(c))}return t}var ns=e=>e.replace(/[&<>"]/g,e=>({"&":`&amp;`,"<":`&lt;`,">":`&gt;`,'"':`&quot;`})[e]??e),rs=880,is=92,as=50,os=156,ss=24,cs=18,ls=18,us=20,ds=6.6,fs=40;function ps(e,t){let n=Ra(),r=44,i=t.map(e=>{let t=e.kind===`lines`?_s(e.shown,n):e.kind===`bars`?xs(e,n):Ss(e,n),i=t.draw(r);return r+=t.height+ls,i});return`<svg xmlns="http://www.w3.org/2000/svg" width="${rs}" height="${r}" viewBox="0 0 ${rs} ${r}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${n.card}"/>
${ms(16,28,e,n.text,`font-size="17" font-weight="600"`)}
${i.join(`
`)}
</svg>
`}function ms(e,t,n,r,i=``){return`<text x="${e.toFixed(1)}" y="${t.toFixed(1)}" fill="${r}" ${i}>${ns(n)}</text>`}function hs(e,t,n,r){return`${ms(16,n+18,e,r.text,`font-weight="600"`)}
${ms(16,n+35,t,r.faint)}`}function gs(e,t,n){let r=t-e;if(!(r>0))return[e];let i=r/n,a=10**Math.floor(Math.log10(i)),o=[1,2,5,10].map(e=>e*a).find(e=>e>=i*(1-1e-9))??10*a,s=Math.ceil(e/o-1e-9),c=Math.floor(t/o+1e-9)-s+1;return Array.from({length:c},(e,t)=>(s+t)*o)}function _s(e,t){let n=ys(e.series,t);return{height:230+n.height,draw:r=>{let[i=new Float64Array,...a]=e.data(),o=i[0]??0,s=i[i.length-1]??1,c=0;for(let e of a)for(let t of e)t>c&&(c=t);let l=c*1.06||1,u=r+as+os,d=e=>is+772*(e-o)/(s-o||1),f=e=>u-e/l*os,p=gs(0,l,4).map(n=>`<line x1="${is}" x2="864" y1="${f(n).toFixed(1)}" y2="${f(n).toFixed(1)}" stroke="${t.grid}"/>
${ms(84,f(n)+4,Ie(e.format(n)),t.faint,`text-anchor="end"`)}`),m=gs(o,s,8).map(e=>`<line x1="${d(e).toFixed(1)}" x2="${d(e).toFixed(1)}" y1="${u-os}" y2="${u+4}" stroke="${t.grid}"/>
${ms(d(e),u+17,`${Number(e.toFixed(6))} s`,t.faint,`class="time" text-anchor="middle"`)}`),h=a.map((n,r)=>{let a=e.series[r],[o,s]=vs(a,r,t);return`<path d="${bs(i,n,d,f)}" fill="none" stroke="${o}" stroke-width="1.5" stroke-dasharray="${s}"/>`});return`${hs(e.title,`${e.axis}; ${o.toFixed(1)} s to ${s.toFixed(1)} s`,r,t)}
${p.join(`
`)}
${m.join(`
`)}
${h.join(`
`)}
${n.draw(u+ss)}`}}}function vs(e,t,n){let r=e?.colour??t;return[n.series[r%9]??n.text,(e?.dash??za(r)).join(` `)]}function ys(e,t){let n=[...new Set(e.map(e=>e.group??e.name))],[r,i]=[is,0],a=n.slice(0,fs).map(n=>{let a=e.findIndex(e=>(e.group??e.name)===n),o=44+n.length*ds;r+o>864&&r>is&&([r,i]=[is,i+1]);let s={x:r,row:i,name:n,line:vs(e[a],a,t)};return r+=o,s}),o=n.length-a.length;return{height:(i+1)*cs+(o>0?cs:0),draw:e=>{let n=a.map(({x:n,row:r,name:i,line:[a,o]})=>{let s=e+r*cs+12;return`<line class="key" x1="${n.toFixed(1)}" x2="${(n+26).toFixed(1)}" y1="${s-4}" y2="${s-4}" stroke="${a}" stroke-width="2.5" stroke-dasharray="${o}"/>${ms(n+31,s,i,t.text)}`});return o>0&&n.push(ms(is,e+(i+1)*cs+12,`and ${o} more`,t.faint)),n.join(`
`)}}}function bs(e,t,n,r){let i=``,a=!1;for(let o=0;o<t.length;o+=1){let s=t[o]??NaN;Number.isNaN(s)?a=!1:(i+=`${a?`L`:`M`}${n(e[o]??0).toFixed(1)} ${r(s).toFixed(1)}`,a=!0)}return i}function xs(e,t){let{levels:n,share:r,top:i,format:a}=e;return{height:230,draw:o=>{let s=o+as+os,c=e=>s-Math.min(e,i)/i*os,l=658/Math.max(1,n.length),u=Math.max(1,Math.min(60,l*.8)),d=gs(0,i,4).map(e=>`<line x1="${is}" x2="750" y1="${c(e).toFixed(1)}" y2="${c(e).toFixed(1)}" stroke="${t.grid}"/>
${ms(84,c(e)+4,Ie(a(e)),t.faint,`text-anchor="end"`)}`),f=n.map((e,n)=>{let r=is+l*(n+.5)-u/2,a=(e,t,n)=>`<rect class="${e}" x="${r.toFixed(1)}" y="${c(t).toFixed(1)}" width="${u.toFixed(1)}" height="${(s-c(t)).toFixed(1)}" ${n}/>`,o=t.series[(e.colour??n)%9]??t.text,d=Math.floor(l/ds),f=e.name.length>d?`${e.name.slice(0,Math.max(0,d-1))}…`:e.name;return`${a(`demand`,Number.isFinite(e.demand)?e.demand:i,`fill="none" stroke="${t.edge}"`)}
${a(`delivered`,e.delivered,`fill="${o}"`)}
${l>=34?ms(r+u/2,s+17,f,t.faint,`text-anchor="middle"`):``}`}),p=r===void 0?``:`<line class="share" x1="${is}" x2="756" y1="${c(r).toFixed(1)}" y2="${c(r).toFixed(1)}" stroke="${t.share}" stroke-width="2"/>
${ms(760,c(r)-3,`fair share`,t.share)}
${ms(760,c(r)+12,a(r),t.share)}`;return`${hs(e.title,e.about,o,t)}
${d.join(`
`)}
${f.join(`
`)}
${p}`}}}function Ss(e,t){let{columns:n,rows:r,format:i}=e;return{height:as+(r.length+1)*us,draw:a=>{let o=Math.min(160,664/Math.max(1,n.length)),s=Math.max(0,...r.flatMap(e=>e.values)),c=e=>200+o*(e+1),l=n.map((e,n)=>ms(c(n)-8,a+as+14,e,t.text,`text-anchor="end" font-weight="600"`)),u=r.flatMap((e,r)=>{let l=a+as+(r+1)*us;return[ms(16,l+14,e.name,t.text),...n.map((n,r)=>{let a=e.values[r]??0,u=s>0?Math.sqrt(a/s)*.45:0;return`<rect x="${(c(r)-o+2).toFixed(1)}" y="${l}" width="${(o-4).toFixed(1)}" height="18" fill="${t.series[0]}" fill-opacity="${u.toFixed(3)}"/>
${ms(c(r)-8,l+14,a===0?`·`:i(a),t.text,`class="cell" text-anchor="end"`)}`})]});return`${hs(e.title,e.about,a,t)}
${l.join(`
`)}
${u.join(`
`)}`}}}var Cs={at:0,packets:1,bytes:2,link:3,mean:4,p50:5,p99:6},ws=7,Ts={rate:0,offered:1,dropped:2,window:3},Es=4,Ds=8e6,Os=class{flows;causes;width;rows=0;levels=[];dropped;droppedOf;numbers;constructor(e,t){this.flows=e,this.causes=t,this.width=ws+t+Es*e,this.numbers=new Float64Array(this.width*1024),this.dropped=new Float64Array(t),this.droppedOf=new Float64Array(e)}add(e){let t=e.length/this.width;this.makeRoom(t),this.numbers.set(e,this.rows*this.width);for(let n=0;n<t;n+=1){let t=n*this.width;for(let n=0;n<this.causes;n+=1)this.dropped[n]=(this.dropped[n]??0)+(e[t+ws+n]??0);for(let n=0;n<this.flows;n+=1)this.droppedOf[n]=(this.droppedOf[n]??0)+(e[t+this.column(n,Ts.dropped)]??0)}this.rows+=t}at(e,t){return this.numbers[e*this.width+t]??NaN}column(e,t){return ws+this.causes+Es*e+t}makeRoom(e){if((this.rows+e)*this.width>Ds&&this.rows>1){let e=Math.floor(this.rows/2);this.numbers.copyWithin(0,(this.rows-e)*this.width,this.rows*this.width),this.rows=e}let t=(this.rows+e)*this.width;if(t<=this.numbers.length)return;let n=new Float64Array(Math.max(t,2*this.numbers.length));n.set(this.numbers.subarray(0,this.rows*this.width)),this.numbers=n}from(e){return this.at(this.rows-1,Cs.at),Math.max(0,this.rows-Math.round(e/.01),0)}means(e,t,n,r){let i=Math.ceil(t/n)*n,a=Math.max(0,Math.ceil((this.rows-i)/n)),o=new Float64Array(a);for(let e=0;e<a;e+=1)o[e]=this.at(i+e*n,Cs.at);return[o,...e.map(e=>this.smoothed(e,i,a,n,r))]}smoothed(e,t,n,r,i){let{numbers:a,width:o}=this,s=new Float64Array(n),c=Math.max(i,r),l=0,u=0,d=Math.max(0,t-c+1),f=d;for(let i=0;i<n;i+=1){let n=t+i*r;for(;f<=n;f+=1){let t=a[f*o+e]??NaN;t===t&&(l+=t,u+=1)}for(;d<=n-c;d+=1){let t=a[d*o+e]??NaN;t===t&&(l-=t,--u)}s[i]=u>0?Math.max(0,l/u):NaN}return s}};function ks(e,t){let n=new Float64Array(e.buffer,e.byteOffset,e.byteLength/8),r=3;for(let e of t){let t=n[r]??0,i=n[r+2]??0;r+=3,e.levels=Array.from({length:t},(e,t)=>({demand:n[r+3*t]??0,delivered:n[r+3*t+1]??0,share:n[r+3*t+2]??0})),r+=3*t,e.add(n.subarray(r,r+i*e.width)),r+=i*e.width}return{now:n[0]??0,isOver:n[1]===1}}function As(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(t),n.download=e,n.click(),setTimeout(()=>URL.revokeObjectURL(n.href),1e4)}async function js(e){let t=URL.createObjectURL(new Blob([e],{type:`image/svg+xml`}));try{let e=new Image;e.src=t,await e.decode();let n=document.createElement(`canvas`);return n.width=2*e.width,n.height=2*e.height,n.getContext(`2d`)?.drawImage(e,0,0,n.width,n.height),await new Promise((e,t)=>n.toBlob(n=>n?e(n):t(Error(`the browser makes no PNG of it`))))}finally{URL.revokeObjectURL(t)}}var Ms=e=>/[",]/.test(e)?`"${e.replaceAll(`"`,`""`)}"`:e;function Ns(e,{sides:t,eras:n}){let r=e.flows.flatMap(e=>[`${e.name}.rate_bps`,`${e.name}.window_segments`]),i=[[`time_s`,`discipline`,`queue_packets`,`queue_bytes`,`wait_mean_s`,`wait_p50_s`,`wait_p99_s`,...e.causes.map(e=>`drops.${e}`),...r].join(`,`)],a=e=>Number.isNaN(e)?``:String(Number(e.toPrecision(12)));return t.forEach((t,r)=>{let o=n.map(e=>({since:e.since,name:Ms(e.sides[r]??``)})),s=0;for(let n=0;n<t.rows;n+=1){for(;s+1<o.length&&t.at(n,Cs.at)>(o[s+1]?.since??0)+1e-9;)s+=1;let r=o[s]?.name??``,c=[Cs.packets,Cs.bytes,Cs.mean,Cs.p50,Cs.p99].map(e=>a(t.at(n,e))),l=e.causes.map((e,r)=>a(t.at(n,Cs.p99+1+r))),u=e.flows.flatMap((e,r)=>[a(t.at(n,t.column(r,Ts.rate))),a(t.at(n,t.column(r,Ts.window)))]);i.push([a(t.at(n,Cs.at)),r,...c,...l,...u].join(`,`))}}),`${i.join(`
`)}\n`}var Ps=[.05,.25,1,4,16],Fs=.5,Is=class{door;changed;failed;about=null;sides=[];now=0;isOver=!1;isPlaying=!1;isBusy=!1;isRushing=!1;speed=1;result=null;frames=0;eras=[];runs=0;last=0;constructor(e,t,n){this.door=e,this.changed=t,this.failed=n}async start(e){let t=++this.runs;this.isBusy=!0;try{let n=await Zo(this.door,`start`,{scenario:e});if(t!==this.runs)return;this.about=n,this.sides=n.sides.map(()=>new Os(n.flows.length,n.causes.length)),this.now=0,this.eras=[{since:0,sides:n.sides}],this.isOver=!1,this.isRushing=!1,this.result=null,this.last=0}finally{t===this.runs&&(this.isBusy=!1),this.changed()}await this.advance(Ls(this.about))}async set(e){for(;this.isBusy;)await new Promise(e=>setTimeout(e,1));this.isBusy=!0;try{return this.about=await Zo(this.door,`set`,{set:e}),this.eras.push({since:this.now,sides:this.about.sides}),!0}catch(e){if(String(e).includes(`all else needs a new run`))return!1;throw e}finally{this.isBusy=!1,this.changed()}}setPlaying(e){this.isPlaying=e&&!this.isOver,this.isRushing=!1,this.last=0,this.changed()}rush(){this.isPlaying=!this.isOver,this.isRushing=!0,this.changed()}async step(){this.setPlaying(!1),await this.advance(this.now+Ls(this.about))}tick(e){if(!this.isPlaying||this.isBusy||!this.about)return;let t=this.last===0?1/60:Math.min(.1,(e-this.last)/1e3),n=this.isRushing?Fs:Math.min(Fs,t*this.speed),r=Math.min(this.target(e)+n,this.about.duration_s);this.last=e,this.wanted=r,(r-this.now>=this.about.sample_s||r>=this.about.duration_s)&&this.advance(r)}wanted=0;target(e){let t=this.about?.sample_s??.01;return this.wanted>this.now&&this.wanted<this.now+2*t?this.wanted:this.now}async advance(e){if(this.isBusy||!this.about)return;let t=this.runs;this.isBusy=!0;try{let n=await this.door.call(`advance`,{to_s:e+1e-6});if(t!==this.runs)return;let r=ks(n,this.sides);this.now=r.now,this.frames+=1,r.isOver&&!this.isOver&&await this.end()}catch(e){this.isPlaying=!1,this.failed(String(e instanceof Error?e.message:e))}finally{t===this.runs&&(this.isBusy=!1)}}async end(){this.result=await Zo(this.door,`result`),this.isOver=!0,this.isPlaying=!1,this.isRushing=!1,this.changed()}};function Ls(e){return e?.sample_s??.01}var Rs=Object.assign({"../../../scenarios/exercises/01-buffer.toml":`# The buffer that one flow needs is what the link holds in a round trip.

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
`}),zs=e=>e.includes(`/exercises/`),Bs=Object.entries(Rs).sort(([e],[t])=>Number(zs(e))-Number(zs(t))||(e<t?-1:1)).map(([e,t])=>({name:`${zs(e)?`exercise-`:``}${e.replace(/^.*\/(?:\d+-)?/,``).replace(/\.toml$/,``)}`,title:/^title = "(.*)"$/m.exec(t)?.[1]??e,scenario:t,isExercise:zs(e)}));function Vs({game:e,about:t,lesson:n,isExercise:r,restore:i}){return H(`section`,{class:`card lesson`,"aria-label":`lesson`,children:[H(`h2`,{children:t.title}),H(`p`,{class:`question`,children:n.question}),n.look&&H(`p`,{class:`faint`,children:n.look}),i&&H(`p`,{children:[H(`span`,{class:`faint`,children:`You have changed the contest: its numbers are others. `}),H(`button`,{type:`button`,onClick:()=>i(),children:`Begin as written`})]}),e.result?H(Hs,{result:e.result,lesson:n,isExercise:r,isAsWritten:i===null}):H(`p`,{children:H(`button`,{type:`button`,class:`primary`,onClick:()=>e.rush(),disabled:e.isRushing,children:e.isRushing?`${Fe(e.now/t.duration_s,2)} done`:r?`Run to the end`:`Run to the end and answer`})})]})}function Hs(e){let{result:t,lesson:n,isExercise:r,isAsWritten:i}=e;return H(`div`,{class:`answer`,role:`status`,children:[H(`dl`,{children:t.map(e=>{let t=e.measures[n.measure];return H(`div`,{children:[H(`dt`,{children:e.discipline}),H(`dd`,{class:`number`,"data-discipline":e.discipline,"data-measure":n.measure,"data-value":t,children:t===void 0?`–`:je(t)})]},e.discipline)})}),H(`p`,{class:`faint small`,children:n.reads}),r?H(`details`,{children:[H(`summary`,{children:`show an answer`}),H(`p`,{children:n.answer})]}):i&&H(`p`,{children:n.answer}),n.figure&&H(`p`,{class:`faint small`,children:[`The same as a figure: `,H(`code`,{children:[`fairwire reproduce `,n.figure]})]})]})}var Us=32768,Ws=262144,Gs=async(e,t)=>new Response(new Response(e).body?.pipeThrough(t));async function Ks(e){if(`lesson`in e)return`#lesson=${encodeURIComponent(e.lesson)}`;let t=new Uint8Array(await(await Gs(new TextEncoder().encode(e.scenario),new CompressionStream(`deflate-raw`))).arrayBuffer());return`#scenario=${btoa(String.fromCharCode(...t)).replaceAll(`+`,`-`).replaceAll(`/`,`_`).replaceAll(`=`,``)}`}async function qs(e){let t=e.replace(/^#/,``);if(t===``)return null;let[n,r=``]=t.split(`=`,2);if(n===`lesson`)return{lesson:decodeURIComponent(r)};if(n!==`scenario`)throw Error("it begins with neither `lesson=` nor `scenario=`");if(r.length>Us)throw Error(`it is too long`);try{let e=atob(r.replaceAll(`-`,`+`).replaceAll(`_`,`/`)),t=(await Gs(Uint8Array.from(e,e=>e.charCodeAt(0)),new DecompressionStream(`deflate-raw`))).body;return{scenario:await Ys(t)}}catch(e){throw e instanceof Js?e:Error(`it is damaged or cut short`)}}var Js=class extends Error{};async function Ys(e){let t=e?.getReader(),n=new TextDecoder(`utf-8`,{fatal:!0}),r=``;for(;;){let e=await t?.read();if(!e||e.done)return r+n.decode();if(r+=n.decode(e.value,{stream:!0}),r.length>Ws)throw await t?.cancel(),new Js(`it unpacks to too much`)}}var Xs=400,Zs=160,Qs=9;function $s(e){let t=[...new Set(e.flows.map(e=>e.group))],n=e.flows.length>Qs;return e.flows.map((e,r)=>{let i=n?t.indexOf(e.group):r;return n?{name:e.name,group:e.group,colour:i,width:1}:{name:e.name,colour:i}})}function ec(e,t){let n=e.from(t.span),r=e.flows>Qs?Zs:Xs;return{first:n,stride:Math.max(1,Math.ceil((e.rows-n)/r),Math.ceil(t.span*100/r))}}function tc(e,t,n){return{title:`Rate of each flow`,axis:`rate, mean of ${n.smooth*10} ms`,series:$s(e),data:()=>{let{first:r,stride:i}=ec(t,n),a=e.flows.map((e,n)=>t.column(n,Ts.rate));return t.means(a,r,i,n.smooth)},format:Me}}function nc(e,t,n){let r=e.flows.map((e,t)=>({flow:e,index:t})).filter(({flow:e})=>e.is_tcp),i=$s(e);return{title:`Congestion window`,axis:`segments`,series:r.flatMap(({index:e})=>i[e]??[]),data:()=>{let{first:e,stride:i}=ec(t,n),a=r.map(({index:e})=>t.column(e,Ts.window));return t.means(a,e,i,1)},format:e=>je(e)}}function rc(e,t,n,r){return{series:e.sides.flatMap((e,t)=>r.map(({suffix:n,dash:r})=>({name:`${e}${n}`,colour:t,dash:r}))),data:()=>{let e=t[0];if(!e)return[new Float64Array];let{first:i,stride:a}=ec(e,n),o=t.map(e=>e.means(r.map(({field:e})=>e),i,a,a));return[o[0]?.[0]??new Float64Array,...o.flatMap(([,...e])=>e)]}}}function ic(e,t,n){return{title:`Queue`,axis:`packets that wait`,...rc(e,t,n,[{field:Cs.packets,suffix:``,dash:[]}]),format:e=>je(e)}}function ac(e,t,n){return{title:`Delay in the queue`,axis:`per interval: median, and 99th percentile (dashed)`,...rc(e,t,n,[{field:Cs.p50,suffix:` p50`,dash:[]},{field:Cs.p99,suffix:` p99`,dash:[4,3]}]),format:Ne}}function oc({game:e,about:t,view:n,version:r,slow:i,kernel:a}){let{sides:o}=e,s={version:r,span:[Math.max(0,e.now-n.span),Math.max(n.span,e.now)],cursor:`play`},c=o.length>1,l=be(()=>Math.max(...o.map(e=>lc(e,t,n))),[i]),u=be(()=>Math.max(...o.map(e=>uc(e,t,n))),[i]),d=be(()=>Math.max(...o.map(e=>ro(hc(t,e),mc(e)))),[i]),f=t.flows.some(e=>e.is_tcp);return H(`div`,{class:c?`pictures two`:`pictures`,children:[o.map((e,n)=>H(gc,{about:t,side:e,index:n,slow:i,top:d},`water ${n}`)),o.map((e,r)=>H(cc,{title:`Rate of each flow`,side:t.sides[r],children:H(qa,{...tc(t,e,n),...s,range:[0,l*1.06||1],height:210})},`rates ${r}`)),f&&o.map((e,r)=>H(cc,{title:`Congestion window`,side:t.sides[r],children:H(qa,{...nc(t,e,n),...s,range:[0,u*1.06||1],height:170})},`windows ${r}`)),H(cc,{title:`Queue`,children:H(qa,{...ic(t,o,n),...s,height:170})}),H(cc,{title:`Delay in the queue`,children:H(qa,{...ac(t,o,n),...s,height:170})}),H(sc,{about:t,kernel:a}),H(yc,{about:t,sides:o,slow:i})]})}function sc({about:e,kernel:t}){return be(()=>t===null?null:H(y,{children:es(t,e).map(e=>H(cc,{title:e.title,children:H(qa,{...e,version:0,height:210})},e.title))}),[t,e])}function cc(e){return H(`section`,{class:`card`,children:[H(`header`,{children:H(`h2`,{children:[e.title,e.side&&H(`span`,{class:`side`,children:[` under `,e.side]})]})}),e.children]})}function lc(e,t,n){let[,...r]=tc(t,e,n).data();return Math.max(0,...r.map(dc))}function uc(e,t,n){let[,...r]=nc(t,e,n).data();return Math.max(0,...r.map(dc))}function dc(e){let t=0;for(let n of e)n>t&&(t=n);return t}function fc(e){let t=e.levels.filter(e=>e.share>0).map(e=>e.delivered/e.share),n=t.reduce((e,t)=>e+t,0),r=t.reduce((e,t)=>e+t*t,0);return r>0?n*n/(t.length*r):NaN}function pc(e){let t={flow:0,part:1/0};return e.levels.forEach((e,n)=>{let r=e.share>0?e.delivered/e.share:1/0;r<t.part&&(t={flow:n,part:r})}),t}function mc(e){let t=e.levels.map(e=>e.share).filter(Number.isFinite);return t.length>0?Math.max(...t):void 0}function hc(e,t){let n=$s(e);return t.levels.map((t,r)=>({name:e.flows[r]?.name??``,demand:t.demand,delivered:t.delivered,colour:n[r]?.colour??0}))}function gc(e){let{about:t,side:n,index:r,slow:i,top:a}=e;return be(()=>{let e=hc(t,n),i=mc(n);return H(`section`,{class:`card`,children:[H(`header`,{children:H(`h2`,{children:[`Who gets what `,H(`span`,{class:`side`,children:[`under `,t.sides[r]]})]})}),H(`p`,{class:`faint small`,children:[`last second`,i===void 0?``:`; Jain ${je(fc(n))}`]}),H(io,{title:`What each flow wants and gets under ${t.sides[r]}`,levels:e,share:i,top:a,format:Me,height:190})]})},[i,n,a])}function _c(e,t){let n=[...new Set(e.flows.map(e=>e.group))],r=e.causes.map((e,t)=>({name:e,index:t})).filter(({index:e})=>t.some(t=>(t.dropped[e]??0)>0)),i=(t,n)=>e.flows.reduce((e,r,i)=>r.group===n?e+(t.droppedOf[i]??0):e,0);return[{title:`Drops by cause`,rows:r.map(({name:e,index:n})=>({name:e,values:t.map(e=>e.dropped[n]??0)}))},{title:`Drops by who sent`,rows:n.map(e=>({name:e,values:t.map(t=>i(t,e))}))}]}var vc=`packets since the start`;function yc(e){let{about:t,sides:n,slow:r}=e;return be(()=>H(`section`,{class:`card wide`,children:[H(`header`,{children:[H(`h2`,{children:`Drops`}),H(`span`,{class:`faint small`,children:vc})]}),H(`div`,{class:`drops`,children:_c(t,n).map(({title:e,rows:n})=>H(Be,{title:e,columns:t.sides,rows:n,format:Pe},e))})]}),[r,n])}function bc({game:e,about:t,view:n,kernel:r}){let{sides:i}=e,a=(e,n)=>`${e} under ${t.sides[n]??``}`,o=Math.max(...i.map(e=>ro(hc(t,e),mc(e)))),s=(e,t)=>({kind:`lines`,shown:t===void 0?e:{...e,title:a(e.title,t)}}),c=i.map((e,r)=>s(nc(t,e,n),r));return[...i.map((n,r)=>({kind:`bars`,title:a(`Who gets what`,r),about:`in the second before ${e.now.toFixed(2)} s; outline: what it wants`,levels:hc(t,n),share:mc(n),top:o,format:Me})),...i.map((e,r)=>s(tc(t,e,n),r)),...t.flows.some(e=>e.is_tcp)?c:[],s(ic(t,i,n)),s(ac(t,i,n)),...r===null?[]:es(r,t).map(e=>s(e)),..._c(t,i).map(({title:e,rows:n})=>({kind:`table`,title:e,about:vc,columns:t.sides,rows:n,format:Pe}))]}var xc=[2,5,10,30,120],Sc=[1,5,10,25,100],Cc=100,wc=1e3,Tc=5;function Ec(){let[e,t]=z(null),[n,r]=z([]),[i,a]=z(null),[o,s]=z(``),[c,l]=z(null),[u,d]=z({span:10,smooth:10}),[f,p]=z(null),[m,h]=z(null),[,g]=z(0),_=V(!1),v=e=>a({mood:`bad`,text:e}),y=async(e,t,n=!0)=>{try{return await e.start(t),e.setPlaying(n),!0}catch(e){return v(Dc(e)),!1}};B(()=>{_.current||(_.current=!0,addEventListener(`hashchange`,()=>location.reload()),Oc(t,r,s,l,a,p,()=>g(e=>e+1),y).catch(e=>v(Dc(e))))},[]);let b=async(t,n,r=!1)=>{let i=r?(e?.isPlaying??!1)||(e?.isOver??!1):!Va();return!e||!await y(e,t,i)?!1:(r||l(kc(e,t,n)),h(null),s(n),history.replaceState(null,``,await Ks(n?{lesson:n}:{scenario:t})),!0)},x=V(Promise.resolve()),S=(e,t)=>{let n=x.current.then(()=>C(e,t));return x.current=n,n},C=async(t,n)=>{if(!e?.about||t[0]===`flow`&&t.length>1&&Eo(e.about.document,t.slice(0,2))===void 0)return!1;a(null);let r=typeof n==`function`?n(e.about.document):n,i=Do(e.about.document,t,r);try{let n=t[0]===`disciplines`&&Array.isArray(r)&&r.length!==e.about.sides.length;if(r!==void 0&&!n&&!e.isOver&&await e.set([`${t.join(`.`)}=${So(r)}`])){s(``);let{runs:t}=e;return a({mood:`plain`,text:`Changed at ${e.now.toFixed(2)} s; the run goes on.`,isTrue:()=>e.runs===t&&!e.isOver}),history.replaceState(null,``,await Ks({scenario:e.about.toml})),!0}}catch(e){return v(Dc(e).replace(/^--set:\d+:\d+: /,``)),!1}if(delete i.expect,!await b(Co(i),``,!0))return!1;let{runs:o}=e;return a({mood:`plain`,text:`This needs a new run: it began again.`,isTrue:()=>e.runs===o&&e.now<Tc&&!e.isOver}),!0},w=e=>(v(e),!1),T=()=>a(e=>e?.isTrue&&!e.isTrue()?null:e),E=e=>{a(null);let t=Bs.find(t=>t.name===e);b(t?.scenario??f?.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,t?e:``)},D=e?.about??null;return H(`main`,{class:`play`,children:[H(`header`,{class:`top`,children:[H(`h1`,{children:`fairwire play`}),H(`label`,{class:`pick`,children:[H(`span`,{class:`unseen`,children:`lesson`}),H(`select`,{value:o,onChange:e=>E(e.currentTarget.value),children:[H(`option`,{value:``,children:`free play`}),[!1,!0].map(e=>H(`optgroup`,{label:e?`exercises`:`lessons`,children:Bs.filter(t=>t.isExercise===e).map((e,t)=>H(`option`,{value:e.name,children:[t+1,`. `,e.title]},e.name))},String(e)))]})]}),e&&D&&H(jc,{game:e,view:u,setView:d,clear:()=>a(null),fail:v})]}),i&&H(`p`,{class:i.mood===`bad`?`notice bad`:`notice`,role:`alert`,children:i.text}),e&&D?H(`div`,{class:`body`,children:[H(`aside`,{"aria-label":`the contest`,children:[D.lesson&&H(Vs,{game:e,about:D,lesson:D.lesson,isExercise:Bs.some(e=>e.isExercise&&e.name===c?.name),restore:c&&D.toml!==c.toml?()=>b(c.scenario,c.name):null}),H(ko,{about:D,parts:n,edit:S,refuse:w}),f?.hasKernel&&H(Lc,{about:D,setKernel:h,fail:v}),H(Rc,{game:e,view:u,kernel:m,lesson:o,fail:v})]}),H(Nc,{game:e,view:u,kernel:m,look:T})]}):H(`p`,{class:`faint wait`,children:`The simulator is being loaded…`})]})}function Dc(e){return e instanceof Error?e.message:String(e)}async function Oc(e,t,n,r,i,a,o,s){let c=e=>i({mood:`bad`,text:e}),l=await Ko();a(l);let u=await qo(l,e=>e!==`page`||!new URLSearchParams(location.search).has(`process`)),d=new Is(u,o,c);t(await Zo(u,`catalogue`));let f=await Ac(l.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,c),p=!Va();await s(d,f.scenario,p)?(n(f.lesson),r(kc(d,f.scenario,f.lesson))):await s(d,l.scenario??`# Four TCP flows of two distances share a link with one flow that does not slow down.
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
`,p),e(d)}function kc(e,t,n){return e.about?.lesson?{name:n,scenario:t,toml:e.about.toml}:null}async function Ac(e,t){try{let t=await qs(location.hash);if(!t)return{scenario:e,lesson:``};if(`scenario`in t)return{scenario:t.scenario,lesson:``};let n=Bs.find(e=>e.name===t.lesson);if(n)return{scenario:n.scenario,lesson:n.name};throw Error(`there is no lesson \`${t.lesson}\``)}catch(n){return t(`The address says what to show, but ${Dc(n)}. This is the contest that the page begins with.`),{scenario:e,lesson:``}}}function jc({game:e,view:t,setView:n,clear:r,fail:i}){let[a,o]=z(e.speed);return H(`div`,{class:`transport controls`,role:`toolbar`,"aria-label":`time`,children:[H(`button`,{type:`button`,class:`primary`,onClick:()=>e.setPlaying(!e.isPlaying),disabled:e.isOver,children:e.isPlaying?`Pause`:`Play`}),H(`button`,{type:`button`,onClick:()=>void e.step(),disabled:e.isOver,children:`Step`}),H(`button`,{type:`button`,onClick:()=>{r(),Mc(e).catch(e=>i(Dc(e)))},children:`Restart`}),H(`label`,{children:[`speed`,` `,H(`select`,{value:a,onChange:t=>{e.speed=Number(t.currentTarget.value),o(e.speed)},children:Ps.map(e=>H(`option`,{value:e,children:e<1?`1/${Math.round(1/e)}`:`${e}×`},e))})]}),H(`label`,{children:[`shows`,` `,H(`select`,{value:t.span,onChange:e=>n({...t,span:Number(e.currentTarget.value)}),children:xc.map(e=>H(`option`,{value:e,children:[e,` s`]},e))})]}),H(`label`,{children:[`rates over`,` `,H(`select`,{value:t.smooth,onChange:e=>n({...t,smooth:Number(e.currentTarget.value)}),children:Sc.map(e=>H(`option`,{value:e,children:[e*10,` ms`]},e))})]})]})}async function Mc(e){e.about&&(await e.start(e.about.toml),e.setPlaying(!0))}function Nc({game:e,view:t,kernel:n,look:r}){let[i,a]=z(0),[o,s]=z(0);B(()=>{let t=0,n=-1,i=0,o=Va(),c=l=>{t=requestAnimationFrame(c),e.tick(l);let u=l-i>=(o?wc:Cc);e.frames===n||o&&!u&&e.isPlaying||(n=e.frames,a(n),(u||!e.isPlaying)&&(i=l,s(n),r()))};return t=requestAnimationFrame(c),()=>cancelAnimationFrame(t)},[e]);let{about:c}=e;return!c||e.sides.length===0?null:H(`div`,{class:`right`,children:[H(`p`,{class:`says`,children:[H(`span`,{class:`clock number`,"data-now":e.now,children:[e.now.toFixed(2),` s`]}),` `,`of `,Ne(c.duration_s),`; simulated `,e.door.place,`, seed `,c.seed,`.`,` `,c.sides.map((t,n)=>{let r=e.sides[n];return r?H(`span`,{children:[H(`strong`,{children:t}),`: `,mc(r)===void 0?`no fair share is worked out for this contest`:Ic(c,r),`.`,` `]},t):null}),e.isOver&&H(`strong`,{children:`The run is at its end.`})]}),H(oc,{game:e,about:c,view:t,version:i,slow:o,kernel:n})]})}var Pc=.6,Fc=.9;function Ic(e,t){let n=fc(t);if(Number.isNaN(n))return`nothing was sent in the last second`;let r=pc(t),i=`${e.flows[r.flow]?.name??``} has ${Fe(r.part)} of its fair share`;return`${r.part>=Fc?`fair in the last second`:r.part>=Pc?`nearly fair: ${i}`:`unfair: ${i}`} (Jain ${je(n)})`}function Lc(e){let[t,n]=z(!1),r=async()=>{n(!0);try{e.setKernel(await $o(e.about.toml))}catch(t){e.fail(`The contest could not run on this machine's kernel.\n${Dc(t)}`)}finally{n(!1)}};return H(`fieldset`,{class:`take`,children:[H(`legend`,{children:`On this machine's kernel`}),H(`button`,{type:`button`,disabled:t,onClick:()=>void r(),children:t?`Running…`:`Run it between real sockets`}),H(`span`,{class:`faint small`,children:`ten seconds for each discipline; needs root or user namespaces`})]})}function Rc(e){let{game:t,view:n,kernel:r,lesson:i,fail:a}=e,{about:o}=t;if(!o)return null;let s=()=>ps(o.title||o.name,bc({game:t,about:o,view:n,kernel:r})),{name:c}=o,l=(e,t)=>new Blob([e],{type:t}),u=async()=>{i===``&&history.replaceState(null,``,await Ks({scenario:o.toml})),await navigator.clipboard.writeText(location.href)};return H(`fieldset`,{class:`take`,children:[H(`legend`,{children:`Take along`}),H(`button`,{type:`button`,onClick:()=>As(`${c}.toml`,l(o.toml,`text/plain`)),children:`Scenario`}),H(`button`,{type:`button`,onClick:()=>As(`${c}.csv`,l(Ns(o,t),`text/csv`)),children:`CSV`}),H(`button`,{type:`button`,onClick:()=>As(`${c}.svg`,l(s(),`image/svg+xml`)),children:`SVG`}),H(`button`,{type:`button`,onClick:()=>void js(s()).then(e=>As(`${c}.png`,e)).catch(e=>a(Dc(e))),children:`PNG`}),H(`button`,{type:`button`,onClick:()=>void u().catch(e=>a(Dc(e))),children:`Copy address`})]})}var zc=document.getElementById(`page`);zc&&(zc.replaceChildren(),F(H(Ec,{}),zc));
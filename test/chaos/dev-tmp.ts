import { openServiceSet } from './service-set.ts'
import { startSteadyLoad } from './steady-load.ts'

const set = await openServiceSet({
  etcdPath: '/work/main/.cache/backends/etcd/usr/bin/etcd',
  natsPath: '/work/main/.cache/backends/nats-server/usr/sbin/nats-server',
  counts: { controllers: 0 },
})
await set.clients[0]!.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'chaos' } } })
const load = startSteadyLoad({ clients: set.clients, workers: 6, retries: true })
for (let i = 0; i < 3; i++)
  for (const one of [...set.of('gateway'), ...set.of('storage'), ...set.of('watch'), ...set.of('admission')]) {
    await new Promise((r) => setTimeout(r, 500))
    const t = performance.now()
    const f = load.failures.length
    await one.stop()
    const s = performance.now()
    one.start()
    await one.ready(20000)
    if (load.failures.length !== f) {
      console.log(one.name, 'stopping', t, 'to', s, 'ready', performance.now(), load.failures.slice(f))
    }
  }
await load.stop()
for (const st of set.of('storage')) console.log(st.name, st.log().slice(-2500))
console.log(load.answered.length, load.failures)
await set.close()

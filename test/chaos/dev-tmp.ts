import { openServiceSet } from './service-set.ts'
import { startSteadyLoad } from './steady-load.ts'

const set = await openServiceSet({
  etcdPath: '/work/main/.cache/backends/etcd/usr/bin/etcd',
  natsPath: '/work/main/.cache/backends/nats-server/usr/sbin/nats-server',
  isLinked: false,
  counts: { controllers: 0 },
})
await set.clients[0]!.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'chaos' } } })
const load = startSteadyLoad({ clients: set.clients, workers: 6, retries: true })
for (let i = 0; i < 8; i++)
  for (const one of set.of('gateway')) {
    await new Promise((r) => setTimeout(r, 300))
    const t = performance.now()
    await one.stop()
    console.log(one.name, 'stop', performance.now() - t, load.answered.length, load.failures.length)
    one.start()
    await one.ready(20000)
  }
await load.stop()
console.log(load.failures)
await set.close()

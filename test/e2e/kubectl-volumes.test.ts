import { expect, test } from 'vitest'
import { aKubectl, describeKubectls, ownServer } from './kubectl.ts'

const manifest = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: 'img:1', volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

describeKubectls('%s', { timeout: 120_000 }, (binary) => {
  test('WL-STS-05, NODE-VOL-04, NODE-VOL-07: runs a StatefulSet whose claims are bound, expanded and deleted', async () => {
    const { kubectl, withFile } = await aKubectl(binary, () => ownServer({ nodes: 2 }))
    await withFile('apply', manifest)
    await kubectl('rollout', 'status', 'statefulset/db', '--timeout=60s')
    await kubectl('wait', 'pvc/data-db-0', 'pvc/data-db-1', '--for=jsonpath={.status.phase}=Bound', '--timeout=60s')
    expect(await kubectl('get', 'pvc')).toMatch(
      /^data-db-0 +Bound +pvc-\S+ +1Gi +RWO +standard .*\ndata-db-1 +Bound +pvc-\S+ +1Gi +RWO +standard /m,
    )
    expect(await kubectl('get', 'pv')).toMatch(/^pvc-\S+ +1Gi +RWO +Delete +Bound +default\/data-db-0 +standard /m)
    const describe = () => kubectl('describe', 'pvc', 'data-db-0')
    expect(await describe()).toMatch(/^Used By: +db-0$/m)
    await expect.poll(describe).toMatch(/Normal +ProvisioningSucceeded .*Successfully provisioned volume pvc-/)
    await kubectl('patch', 'pvc', 'data-db-0', '--type=merge', '-p', '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}')
    await kubectl('wait', 'pvc/data-db-0', '--for=jsonpath={.status.capacity.storage}=2Gi', '--timeout=60s')
    await kubectl('delete', 'statefulset/db', '--timeout=60s')
    await kubectl('wait', 'pod/db-0', 'pod/db-1', '--for=delete', '--timeout=60s')
    await kubectl('delete', 'pvc', '--all', '--timeout=60s')
    await expect.poll(() => kubectl('get', 'pv', '-o', 'name'), { timeout: 30_000 }).toBe('')
  })
})

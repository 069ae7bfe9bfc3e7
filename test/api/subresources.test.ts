import { aCertificate } from '@orch/platform/any-certificate'
import { describe, expect, test } from 'vitest'
import { type Answer, aNamespace, anApi, type Body, created, sharedApi } from './api.ts'
import { certificateRequest } from './certificate-request.ts'

const server = sharedApi()

const podSpec = { containers: [{ name: 'c', image: 'i' }] }
const labels = { app: 'a', tier: 'web' }
const workloadSpec = { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } }
const message = ({ body }: Answer) => body['message']
const succeeded = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

async function aPod(spec: Record<string, unknown> = {}) {
  const namespace = await aNamespace(server.api)
  const pods = `/api/v1/namespaces/${namespace}/pods`
  const pod = await created(server.api, pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels },
    spec: { ...podSpec, ...spec },
  })
  return { namespace, pods, target: `${pods}/p`, pod }
}

describe('scale', () => {
  const workloads = [
    ['Deployment', 'apps/v1', 'deployments', workloadSpec],
    ['ReplicaSet', 'apps/v1', 'replicasets', workloadSpec],
    ['StatefulSet', 'apps/v1', 'statefulsets', { ...workloadSpec, serviceName: 's' }],
    ['ReplicationController', 'v1', 'replicationcontrollers', { ...workloadSpec, selector: labels }],
  ] as const

  const aWorkload = async ([kind, apiVersion, plural, spec]: readonly [string, string, string, object]) => {
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    const path = `${root}/namespaces/${await aNamespace(server.api)}/${plural}`
    const made = await created(server.api, path, { apiVersion, kind, metadata: { name: 'w' }, spec })
    return { target: `${path}/w`, scale: `${path}/w/scale`, made }
  }

  test.each(workloads)('of a %s reads and sets the replicas', async (...workload) => {
    const { target, scale, made } = await aWorkload(workload)
    const { uid, namespace, resourceVersion, creationTimestamp } = made.metadata
    const read = await server.api.get(scale)
    expect(read.body).toEqual({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'w', namespace, uid, resourceVersion, creationTimestamp },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: 'app=a,tier=web' },
    })
    const put = await server.api.put(scale, { ...read.body, spec: { replicas: 5 } })
    expect({ status: put.status, spec: put.body['spec'] }).toEqual({ status: 200, spec: { replicas: 5 } })
    const patched = await server.api.patch(scale, { spec: { replicas: 0 } })
    expect({ status: patched.status, spec: patched.body['spec'] }).toEqual({ status: 200, spec: {} })
    const { body } = await server.api.get(target)
    expect(body).toMatchObject({ spec: { replicas: 0, template: { metadata: { labels } } }, metadata: { generation: 3 } })
  })

  test('is changed by a strategic merge patch', async () => {
    const { scale } = await aWorkload(workloads[0])
    const headers = { 'content-type': 'application/strategic-merge-patch+json' }
    const { body } = await server.api.send('PATCH', scale, { body: { spec: { replicas: 4 } }, headers })
    expect(body['spec']).toEqual({ replicas: 4 })
  })

  test.each([
    ['a patch', '', { 'content-type': 'application/merge-patch+json' }, { spec: { replicas: 4 } }],
    [
      'an apply',
      '&force=true',
      { 'content-type': 'application/apply-patch+yaml' },
      { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'w' }, spec: { replicas: 4 } },
    ],
  ])('SSA-17: by %s owns the replicas in an entry without a time', async (_what, force, headers, body) => {
    const { target, scale } = await aWorkload(workloads[0])
    expect((await server.api.send('PATCH', `${scale}?fieldManager=scaler${force}`, { body, headers })).status).toBe(200)
    const entries = (await server.api.get(target)).body.metadata['managedFields'] as { manager: string }[]
    const entry = entries.find(({ manager }) => manager === 'scaler')
    expect(entry).toMatchObject({ subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } })
    expect(entry).not.toHaveProperty('time')
    expect(entries.find(({ manager }) => manager !== 'scaler')).toHaveProperty('time')
  })

  test('SSA-17: by an apply without force is refused in the version of the scale', async () => {
    const { target, scale } = await aWorkload(workloads[0])
    await server.api.send('PATCH', `${target}?fieldManager=owner`, {
      body: { spec: { replicas: 2 } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    const answer = await server.api.send('PATCH', `${scale}?fieldManager=scaler`, {
      body: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'w' }, spec: { replicas: 4 } },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    })
    expect(answer.status).toBe(409)
    expect(message(answer)).toContain('using autoscaling/v1: .spec.replicas')
  })

  test('with an outdated version is refused', async () => {
    const { scale } = await aWorkload(workloads[0])
    const { body } = await server.api.get(scale)
    await server.api.put(scale, { ...body, spec: { replicas: 3 } })
    const stale = await server.api.put(scale, { ...body, spec: { replicas: 4 } })
    expect({ status: stale.status, reason: stale.body['reason'] }).toEqual({ status: 409, reason: 'Conflict' })
    expect(message(stale)).toContain('deployments.apps "w": the object has been modified')
    const { resourceVersion: _version, ...metadata } = body.metadata
    const other = await server.api.put(scale, { ...body, metadata: { ...metadata, uid: 'zzz' }, spec: { replicas: 4 } })
    expect(other.status).toBe(409)
    expect(message(other)).toContain('Precondition failed: UID in precondition: zzz')
  })

  test('VAL-08, VAL-10, VAL-13: with unknown fields in a patch is refused, causes a warning, or drops them, as requested', async () => {
    const { scale } = await aWorkload(workloads[0])
    const patch = { spec: { replicas: 3, nope: 1 } }
    const strict = await server.api.patch(`${scale}?fieldValidation=Strict`, patch)
    expect({ status: strict.status, message: message(strict) }).toEqual({
      status: 400,
      message: 'Scale in version "v1" cannot be handled as a Scale: strict decoding error: unknown field "spec.nope"',
    })
    const warned = await server.api.patch(scale, patch)
    expect(warned.headers['warning']).toBe('299 - "unknown field \\"spec.nope\\""')
    expect(warned.body['spec']).toEqual({ replicas: 3 })
    const ignored = await server.api.patch(`${scale}?fieldValidation=Ignore`, patch)
    expect(ignored.headers['warning']).toBeUndefined()
  })

  test('with negative replicas is refused', async () => {
    const { scale } = await aWorkload(workloads[0])
    const answer = await server.api.patch(scale, { spec: { replicas: -1 } })
    expect(answer.status).toBe(422)
    expect(message(answer)).toBe('Scale.autoscaling "w" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0')
  })

  test('DRY-01: in a dry run changes nothing', async () => {
    const { target, scale } = await aWorkload(workloads[0])
    const answer = await server.api.patch(`${scale}?dryRun=All`, { spec: { replicas: 9 } })
    expect(answer.body['spec']).toEqual({ replicas: 9 })
    expect((await server.api.get(target)).body).toMatchObject({ spec: { replicas: 2 } })
  })

  test('of an absent object is a 404', async () => {
    const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/deployments/none/scale`
    expect((await server.api.get(path)).status).toBe(404)
    expect((await server.api.patch(path, { spec: { replicas: 1 } })).status).toBe(404)
  })
})

describe('eviction', () => {
  const eviction = (fields: Record<string, unknown> = {}) => ({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'p' },
    ...fields,
  })

  const aRunningPod = async () => {
    const made = await aPod({ nodeName: 'n' })
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    const running = await server.api.put(`${made.target}/status`, { ...made.pod, status })
    expect(running.status).toBe(200)
    return made
  }

  const aBudget = async (namespace: string, name: string, status: Record<string, unknown>) => {
    const path = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`
    const spec = { minAvailable: 1, selector: { matchLabels: { app: 'a' } } }
    const made = await created(server.api, path, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec })
    const counts = { currentHealthy: 2, desiredHealthy: 2, expectedPods: 2, disruptionsAllowed: 0, observedGeneration: 1 }
    const answer = await server.api.put(`${path}/${name}/status`, { ...made, status: { ...counts, ...status } })
    expect(answer.status).toBe(200)
    return `${path}/${name}`
  }

  test.each(['policy/v1', 'policy/v1beta1'])('VIRT-03, VIRT-06: of %s deletes the pod', async (apiVersion) => {
    const { target } = await aPod()
    const { status, body } = await server.api.post(`${target}/eviction`, eviction({ apiVersion }))
    expect({ status, body }).toEqual({ status: 201, body: succeeded })
    expect((await server.api.get(target)).status).toBe(404)
  })

  test('VIRT-06: follows its delete options', async () => {
    const { target } = await aRunningPod()
    await server.api.post(`${target}/eviction`, eviction({ deleteOptions: { gracePeriodSeconds: 7 } }))
    expect((await server.api.get(target)).body.metadata['deletionGracePeriodSeconds']).toBe(7)
  })

  test('VIRT-06: from 1.26 on adds a condition to the pod, and a dry run writes nothing', async () => {
    const older = await anApi({ version: '1.25', controllers: [] })
    for (const [api, wanted] of [[server.api, ['EvictionByEvictionAPI']] as const, [older, []] as const]) {
      const path = `/api/v1/namespaces/${await aNamespace(api)}/pods`
      const pod = { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } }
      await created(api, path, pod)
      const reasons = async () => {
        const { conditions = [] } = (await api.get(`${path}/p`)).body['status'] as { conditions?: { type: string; reason: string }[] }
        return conditions.flatMap(({ type, reason }) => (type === 'DisruptionTarget' ? [reason] : []))
      }
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions: { gracePeriodSeconds: 9 } }
      expect((await api.post(`${path}/p/eviction?dryRun=All`, body)).status).toBe(201)
      expect(await reasons()).toEqual([])
      expect((await api.post(`${path}/p/eviction`, body)).status).toBe(201)
      expect(await reasons()).toEqual(wanted)
    }
  })

  test('VIRT-06, DRY-01: as a dry run in the query or in the options deletes nothing', async () => {
    const { target } = await aPod()
    expect((await server.api.post(`${target}/eviction?dryRun=All`, eviction())).status).toBe(201)
    expect((await server.api.post(`${target}/eviction`, eviction({ deleteOptions: { dryRun: ['All'] } }))).status).toBe(201)
    expect((await server.api.get(target)).status).toBe(200)
  })

  test('VIRT-06, DRY-01: with an empty dryRun in the options does not contradict the query', async () => {
    const { target } = await aPod()
    const deleteOptions = { dryRun: [] }
    expect((await server.api.post(`${target}/eviction?dryRun=All`, eviction({ deleteOptions }))).status).toBe(201)
    expect((await server.api.get(target)).status).toBe(200)
    const other = await server.api.post(`${target}/eviction?dryRun=All`, eviction({ deleteOptions: { dryRun: ['None'] } }))
    expect([other.status, message(other)]).toEqual([400, expect.stringContaining('Non-matching dry-run options')])
    expect((await server.api.post(`${target}/eviction`, eviction({ deleteOptions }))).status).toBe(201)
    expect((await server.api.get(target)).status).toBe(404)
  })

  test('VIRT-06: with a version in the options applies only to that version of the pod', async () => {
    const { target, pod } = await aPod()
    const of = (resourceVersion: unknown) => eviction({ deleteOptions: { preconditions: { resourceVersion } } })
    expect((await server.api.post(`${target}/eviction`, of('1'))).status).toBe(409)
    expect((await server.api.post(`${target}/eviction`, of(pod.metadata.resourceVersion))).status).toBe(201)
  })

  test('VIRT-06: with another name than the path, or of an absent pod, is refused', async () => {
    const { target, pods } = await aPod()
    const answer = await server.api.post(`${target}/eviction`, eviction({ metadata: { name: 'q' } }))
    expect({ status: answer.status, message: message(answer) }).toEqual({
      status: 400,
      message: 'name in URL does not match name in Eviction object',
    })
    const absent = await server.api.post(`${pods}/q/eviction`, eviction({ metadata: { name: 'q' } }))
    expect({ status: absent.status, message: message(absent) }).toEqual({ status: 404, message: 'pods "q" not found' })
  })

  test('VIRT-06: uses up the only disruption of a budget, and the next one is refused', async () => {
    const { target, namespace } = await aRunningPod()
    const budget = await aBudget(namespace, 'b', { disruptionsAllowed: 1 })
    expect((await server.api.post(`${target}/eviction`, eviction())).status).toBe(201)
    expect((await server.api.get(budget)).body['status']).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p: expect.any(String) },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', observedGeneration: 1 }],
    })
  })

  test('VIRT-06: is refused by an exhausted budget', async () => {
    const { target, namespace } = await aRunningPod()
    await aBudget(namespace, 'b', {})
    const { status, body } = await server.api.post(`${target}/eviction`, eviction())
    expect({ status, body }).toMatchObject({
      status: 429,
      body: {
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: { causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget b needs 2 healthy pods and has 2 currently' }] },
      },
    })
    expect((await server.api.get(target)).body.metadata.deletionTimestamp).toBeUndefined()
  })

  test('VIRT-06: has to be retried if the budget has no observed status', async () => {
    const { target, namespace } = await aRunningPod()
    await aBudget(namespace, 'b', { observedGeneration: 0, disruptionsAllowed: 1 })
    const { status, body, headers } = await server.api.post(`${target}/eviction`, eviction())
    expect({ status, retryAfter: headers['retry-after'] }).toEqual({ status: 429, retryAfter: '10' })
    const causes = [{ reason: 'DisruptionBudget', message: 'The disruption budget b is still being processed by the server.' }]
    expect(body['details']).toMatchObject({ retryAfterSeconds: 10, causes })
  })

  test('VIRT-06: is refused with two budgets', async () => {
    const { target, namespace } = await aRunningPod()
    await aBudget(namespace, 'b', { disruptionsAllowed: 1 })
    await aBudget(namespace, 'c', { disruptionsAllowed: 1 })
    const answer = await server.api.post(`${target}/eviction`, eviction())
    expect({ status: answer.status, message: message(answer) }).toEqual({
      status: 500,
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    })
  })

  test('VIRT-06: of a pod that does not run yet ignores budgets', async () => {
    const { target, namespace } = await aPod()
    await aBudget(namespace, 'b', {})
    expect((await server.api.post(`${target}/eviction`, eviction())).status).toBe(201)
    expect((await server.api.get(target)).status).toBe(404)
  })
})

describe('binding', () => {
  const binding = (fields: Record<string, unknown> = {}) => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'p', annotations: { why: 'room' } },
    target: { kind: 'Node', name: 'n' },
    ...fields,
  })

  test('VIRT-01: sets the node of the pod, once', async () => {
    const { target } = await aPod()
    const { status, body } = await server.api.post(`${target}/binding`, binding())
    expect({ status, body }).toEqual({ status: 201, body: succeeded })
    expect((await server.api.get(target)).body).toMatchObject({
      metadata: { annotations: { why: 'room' } },
      spec: { nodeName: 'n' },
      status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
    })
    const again = await server.api.post(`${target}/binding`, binding())
    expect({ status: again.status, message: message(again) }).toEqual({
      status: 409,
      message: 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"',
    })
  })

  test('VIRT-01, VIRT-04: may be created in the collection of bindings', async () => {
    const { namespace, target } = await aPod()
    expect((await server.api.post(`/api/v1/namespaces/${namespace}/bindings`, binding())).status).toBe(201)
    expect((await server.api.get(target)).body).toMatchObject({ spec: { nodeName: 'n' } })
  })

  test('needs a node', async () => {
    const { target } = await aPod()
    const answer = await server.api.post(`${target}/binding`, binding({ target: { kind: 'Pod', name: '' } }))
    expect(answer.status).toBe(422)
    expect(message(answer)).toContain('target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"')
    expect(message(answer)).toContain('target.name: Required value')
    const named = await server.api.post(`${target}/binding`, binding({ target: { kind: 'Pod', name: 'A_B' } }))
    expect(message(named)).not.toContain('target.name')
  })
})

describe('subresources of an object', () => {
  test('add ephemeral containers, which are immutable', async () => {
    const { target } = await aPod()
    const debug = { name: 'd', image: 'i' }
    const added = await server.api.patch(`${target}/ephemeralcontainers`, { spec: { ephemeralContainers: [debug], nodeName: 'x' } })
    expect(added.body).toMatchObject({ kind: 'Pod', spec: { ephemeralContainers: [debug] } })
    expect((added.body['spec'] as { nodeName?: string }).nodeName).toBeUndefined()
    const { body } = await server.api.get(`${target}/ephemeralcontainers`)
    const put = await server.api.put(`${target}/ephemeralcontainers`, {
      ...body,
      spec: { ...(body['spec'] as object), ephemeralContainers: [] },
    })
    expect(put.status).toBe(422)
    expect(message(put)).toContain('spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be removed')
  })

  const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests'
  const condition = (type: string, message = 'm') => ({ type, status: 'True', reason: 'R', message })
  const aRequest = async () => {
    const made = await created(server.api, requests, {
      apiVersion: 'certificates.orch.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { generateName: 'r-' },
      spec: { request: certificateRequest, signerName: 'example.com/s', usages: ['client auth'] },
    })
    const target = `${requests}/${made.metadata.name}`
    const write = (subresource: string, ...conditions: unknown[]) =>
      server.api.patch(`${target}/${subresource}`, { status: { conditions } })
    return { target, write }
  }
  const conditionsOf = ({ body }: Answer) => (body['status'] as { conditions?: { type: string; message: string }[] }).conditions ?? []

  test('write all conditions of a certificate request by approval, and no certificate', async () => {
    const { target } = await aRequest()
    const status = { conditions: [condition('Approved'), condition('other')], certificate: 'eA==' }
    const approved = await server.api.patch(`${target}/approval`, { status })
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const times = { lastUpdateTime: time, lastTransitionTime: time }
    expect(approved.body['status']).toEqual({
      conditions: [
        { ...condition('Approved'), ...times },
        { ...condition('other'), ...times },
      ],
    })
  })

  test('neither add nor remove a decision of a certificate request by its status', async () => {
    const { write } = await aRequest()
    const added = await write('status', condition('Denied'))
    expect([added.status, message(added)]).toEqual([
      422,
      expect.stringContaining('status.conditions: Forbidden: updates may not add a condition of type "Denied"'),
    ])
    await write('approval', condition('Approved'))
    const removed = await write('status', condition('Failed'))
    expect([removed.status, message(removed)]).toEqual([
      422,
      expect.stringContaining('status.conditions: Forbidden: updates may not remove a condition of type "Approved"'),
    ])
    const kept = await write('status', condition('Failed'), condition('Approved', 'other'))
    expect(conditionsOf(kept).map(({ type, message: text }) => [type, text])).toEqual([
      ['Failed', 'm'],
      ['Approved', 'm'],
    ])
  })

  test('cannot change a decision of a certificate request', async () => {
    const { write } = await aRequest()
    await write('approval', condition('Denied'))
    const answer = await write('approval', condition('other'))
    expect([answer.status, message(answer)]).toEqual([422, expect.stringContaining('updates may not remove a condition of type "Denied"')])
  })

  test('accept only valid PEM as the issued certificates of a request', async () => {
    const { target } = await aRequest()
    for (const pem of ['x', `-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n`]) {
      const answer = await server.api.patch(`${target}/status`, { status: { certificate: btoa(pem) } })
      expect([answer.status, message(answer)]).toEqual([
        422,
        expect.stringContaining('status.certificate: Invalid value: "<certificate data>"'),
      ])
    }
    const certificate = btoa((await aCertificate({})).certificate)
    const issued = await server.api.patch(`${target}/status`, { status: { certificate } })
    expect(issued.body['status']).toEqual({ certificate })
  })

  test('a create of an invalid certificate request is a 422 that names the field', async () => {
    const answer = await server.api.post(requests, {
      apiVersion: 'certificates.orch.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { generateName: 'r-' },
      spec: { signerName: 'example.com/s', usages: ['client auth'] },
    })
    expect([answer.status, message(answer)]).toEqual([422, expect.stringContaining('spec.request: ')])
  })

  test('a certificate request must be signed with its own key', async () => {
    const other = Buffer.from(certificateRequest, 'base64').toString().replace('c29tZW9uZTB', 'c29tZW9uYTB')
    const answer = await server.api.post(requests, {
      apiVersion: 'certificates.orch.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { generateName: 'r-' },
      spec: { request: btoa(other), signerName: 'example.com/s', usages: ['client auth'] },
    })
    expect([answer.status, message(answer)]).toEqual([422, expect.stringContaining(': x509: ECDSA verification failure')])
  })
})

describe('changes that a kind makes in a write', () => {
  test('set the requester of a certificate, which is immutable', async () => {
    const path = '/apis/certificates.orch.io/v1/certificatesigningrequests'
    const made = await created(server.api, path, {
      apiVersion: 'certificates.orch.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { generateName: 'r-' },
      spec: { request: certificateRequest, signerName: 'example.com/s', usages: ['client auth'], username: 'forged' },
    })
    expect(made['spec']).toMatchObject({ username: 'orch-admin', groups: expect.arrayContaining(['system:masters']) })
    const { body } = await server.api.patch(`${path}/${made.metadata.name}`, { spec: { signerName: 'example.com/other' } })
    expect(body['spec']).toEqual(made['spec'])
  })

  test('include annotations in the generation of a Deployment, and not labels', async () => {
    const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/deployments`
    await created(server.api, path, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'w' }, spec: workloadSpec })
    const labelled = await server.api.patch(`${path}/w`, { metadata: { labels: { x: 'y' } } })
    const annotated = await server.api.patch(`${path}/w`, { metadata: { annotations: { x: 'y' } } })
    expect([labelled.body.metadata.generation, annotated.body.metadata.generation]).toEqual([1, 2])
  })
})

describe('subresources that need a node', () => {
  test('ADDR-16: return text for a log and a Scale for a scale', async () => {
    const { target } = await aPod()
    const log = await server.api.get(`${target}/log`)
    expect({ type: log.headers['content-type'], text: log.text }).toEqual({ type: undefined, text: '' })
    const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/deployments`
    await created(server.api, path, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'w' }, spec: workloadSpec })
    expect((await server.api.get(`${path}/w/scale`)).body).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1' })
  })

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'VERB-13: %s to the proxy of one Service is a request to that Service',
    async (method) => {
      const path = `/api/v1/namespaces/${await aNamespace(server.api)}/services`
      const spec = { ports: [{ port: 80 }] }
      await created(server.api, path, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec })
      for (const target of [`${path}/s/proxy`, `${path}/s/proxy/a/b?c=d`, `${path}/http:s:80/proxy/`]) {
        const { status, body } = await server.api.send(method, target)
        expect({ target, status, message: body['message'] }).toEqual({
          target,
          status: 503,
          message: 'no endpoints available for service "s"',
        })
      }
      expect((await server.api.send(method, `${path}/none/proxy/`)).status).toBe(404)
      expect((await server.api.get(`${path}/s`)).status).toBe(200)
    },
  )

  test('need a node for logs and exec', async () => {
    const { target } = await aPod()
    const log = await server.api.get(`${target}/log`)
    expect({ status: log.status, contentType: log.headers['content-type'] }).toEqual({ status: 204, contentType: undefined })
    for (const way of ['exec?command=ls', 'attach', 'portforward']) {
      const answer = await server.api.post(`${target}/${way}`, undefined)
      expect({ status: answer.status, message: message(answer) }).toEqual({ status: 400, message: 'pod p does not have a host assigned' })
    }
    const proxied = await server.api.get(`${target}/proxy/`)
    expect({ status: proxied.status, message: message(proxied) }).toEqual({ status: 400, message: 'address not allowed' })
  })

  test('need a container of the pod', async () => {
    const { target } = await aPod({ containers: [...podSpec.containers, { name: 'e', image: 'i' }] })
    const unsaid = await server.api.get(`${target}/log`)
    expect({ status: unsaid.status, message: message(unsaid) }).toEqual({
      status: 400,
      message: 'a container name must be specified for pod p, choose one of: [c e]',
    })
    const wrong = await server.api.get(`${target}/log?container=x`)
    expect({ status: wrong.status, message: message(wrong) }).toEqual({ status: 400, message: 'container x is not valid for pod p' })
    expect((await server.api.get(`${target}/log?container=e`)).status).toBe(204)
  })

  test('report a node that cannot be reached', async () => {
    const { target } = await aPod({ nodeName: 'none' })
    expect((await server.api.get(`${target}/log`)).status).toBe(404)
    const node: Body = await created(server.api, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { generateName: 'n-' } })
    const { target: other } = await aPod({ nodeName: node.metadata.name })
    const answer = await server.api.get(`${other}/log`)
    expect(answer.status).toBe(500)
    expect(message(answer)).toBe('no preferred addresses found; known addresses: []')
  })
})

describe('PUT with a free name', () => {
  const cases = [
    ['ConfigMap', 'v1', 'configmaps', {}, 404],
    ['Secret', 'v1', 'secrets', {}, 404],
    ['LimitRange', 'v1', 'limitranges', {}, 201],
    ['Endpoints', 'v1', 'endpoints', {}, 201],
    ['Role', 'rbac.authorization.orch.io/v1', 'roles', {}, 201],
    ['Lease', 'coordination.orch.io/v1', 'leases', {}, 201],
    ['EndpointSlice', 'discovery.orch.io/v1', 'endpointslices', { addressType: 'IPv4', endpoints: [] }, 404],
    ['NetworkPolicy', 'networking.orch.io/v1', 'networkpolicies', { spec: { podSelector: {} } }, 404],
  ] as const

  test.each(cases)('VERB-07: creates a %s, or is refused', async (kind, apiVersion, plural, fields, expected) => {
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    const path = `${root}/namespaces/${await aNamespace(server.api)}/${plural}/a`
    const { status } = await server.api.put(path, { apiVersion, kind, metadata: { name: 'a' }, ...fields })
    expect(status).toBe(expected)
  })
})

test('TABLE-06, ADDR-16: a scale has a Table, in every form of its objects', async () => {
  const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/deployments`
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await created(server.api, path, { metadata: { name: 'd' }, spec: { replicas: 3, selector: { matchLabels: { a: 'b' } }, template } })
  const accept = 'application/json;as=Table;v=v1;g=meta.orch.io'
  const { body } = await server.api.get(`${path}/d/scale`, { accept })
  expect(body).toMatchObject({
    kind: 'Table',
    apiVersion: 'meta.orch.io/v1',
    columnDefinitions: ['Name', 'Desired', 'Available', 'Age'].map((name) => ({ name })),
    rows: [{ cells: ['d', 3, 0, expect.any(String)], object: { kind: 'PartialObjectMetadata', metadata: { name: 'd' } } }],
  })
  expect(body.metadata.resourceVersion).toMatch(/^\d+$/)
  const whole = await server.api.get(`${path}/d/scale?includeObject=Object`, { accept })
  expect(whole.body).toMatchObject({ rows: [{ object: { kind: 'Scale', spec: { replicas: 3 } } }] })
})

import { expect, test } from 'vitest'
import { aName, aNamespace, configMap, created, sharedApi } from '../api/api.ts'
import { aConfiguration, aHook, aHookedNamespace } from './hooks.ts'
import { allowing, answering, aWebhookServer, patching, type Reply } from './webhook-server.ts'

// Without this, the test would count the ConfigMap that a controller puts into every namespace.
const server = sharedApi({ flags: ['--controllers=*,-root-ca-cert-publisher'] })

/** The webhook appends a letter to `data.trace`, so the object shows the order of the calls. */
function tracing(letter: string): Reply {
  return patching(({ request }) => [
    { op: 'add', path: '/data', value: { ...request.object.data, trace: `${request.object.data?.trace ?? ''}${letter}` } },
  ])
}

test('mutating webhooks are called in the order of the names of their configurations, then of their positions', async () => {
  const { api } = server
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((letter) => aWebhookServer(tracing(letter))))
  const namespace = await aNamespace(api)
  const names = [aName('order-1'), aName('order-2')].sort()
  if (a === undefined || b === undefined || c === undefined) throw new Error('there are three')
  await aConfiguration(api, 'mutating', [aHook(c, namespace)], names[1])
  await aConfiguration(api, 'mutating', [aHook(a, namespace), aHook(b, namespace)], names[0])
  const { data } = await created(api, `/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'x' }))
  expect(data).toEqual({ trace: 'abc' })
})

test('ADM-FLOW-04: validating webhooks are called in parallel', async () => {
  const { api } = server
  const waiting: (() => void)[] = []
  // The webhook answers the first call only after all calls have arrived.
  const hook = await aWebhookServer((called, response) => {
    waiting.push(() => allowing(called, response))
    if (waiting.length === 3) for (const answer of waiting) answer()
  })
  const namespace = await aNamespace(api)
  await aConfiguration(api, 'validating', [aHook(hook, namespace), aHook(hook, namespace), aHook(hook, namespace)])
  await created(api, `/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))
  expect(hook.calls).toHaveLength(3)
})

test('ADM-FLOW-08: webhooks with reinvocation are called again after a later change, and other webhooks are not', async () => {
  const { api } = server
  const again = await aWebhookServer(allowing)
  const once = await aWebhookServer(allowing)
  const changing = await aWebhookServer(tracing('x'))
  const namespace = await aNamespace(api)
  await aConfiguration(api, 'mutating', [
    aHook(again, namespace, { reinvocationPolicy: 'IfNeeded' }),
    aHook(once, namespace),
    aHook(changing, namespace),
  ])
  await created(api, `/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))
  expect([again.calls.length, once.calls.length, changing.calls.length]).toEqual([2, 1, 1])
  expect(again.calls[1]?.request.object.data).toEqual({ trace: 'x' })
})

test('ADM-FLOW-08: no webhook is called again without a later change', async () => {
  const { api } = server
  const first = await aWebhookServer(tracing('x'))
  const second = await aWebhookServer(patching(({ request }) => [{ op: 'test', path: '/data', value: request.object.data }]))
  const namespace = await aNamespace(api)
  await aConfiguration(api, 'mutating', [
    aHook(first, namespace, { reinvocationPolicy: 'IfNeeded' }),
    aHook(second, namespace, { reinvocationPolicy: 'IfNeeded' }),
  ])
  await created(api, `/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))
  expect([first.calls.length, second.calls.length]).toEqual([1, 1])
})

test('ADM-FLOW-08: a change that a default of the server reverts counts as a change', async () => {
  const { api } = server
  const again = await aWebhookServer(allowing)
  const removing = await aWebhookServer(patching(() => [{ op: 'remove', path: '/template/spec/restartPolicy' }]))
  const namespace = await aNamespace(api)
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['podtemplates'] }]
  const hooks = [aHook(again, namespace, { rules, reinvocationPolicy: 'IfNeeded' }), aHook(removing, namespace, { rules })]
  await aConfiguration(api, 'mutating', hooks)
  const template = { spec: { containers: [{ name: 'x', image: 'y' }] } }
  const podTemplate = { kind: 'PodTemplate', apiVersion: 'v1', metadata: { name: 'p' }, template }
  const made = await created(api, `/api/v1/namespaces/${namespace}/podtemplates`, podTemplate)
  expect(made['template']).toMatchObject({ spec: { restartPolicy: 'Always' } })
  expect([again.calls.length, removing.calls.length]).toEqual([2, 1])
})

test('ADM-FLOW-09: two webhooks that keep changing the object are called twice each', async () => {
  const { api } = server
  const [a, b] = [await aWebhookServer(tracing('a')), await aWebhookServer(tracing('b'))]
  const namespace = await aNamespace(api)
  const fields = { reinvocationPolicy: 'IfNeeded' }
  await aConfiguration(api, 'mutating', [aHook(a, namespace, fields), aHook(b, namespace, fields)])
  const { data } = await created(api, `/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'x' }))
  expect(data).toEqual({ trace: 'abab' })
})

test('ADM-FLOW-08: a webhook that is called again may refuse', async () => {
  const { api } = server
  const fickle = await aWebhookServer(answering(({ request }) => ({ allowed: request.object.data?.trace !== 'x' })))
  const changing = await aWebhookServer(tracing('x'))
  const namespace = await aNamespace(api)
  await aConfiguration(api, 'mutating', [aHook(fickle, namespace, { reinvocationPolicy: 'IfNeeded' }), aHook(changing, namespace)])
  expect((await api.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))).status).toBe(400)
})

test('ADM-FLOW-13, ADM-REV-15: a dry run is sent to webhooks that allow it', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const namespace = await aNamespace(api)
  await aConfiguration(api, 'validating', [aHook(hook, namespace, { sideEffects: 'NoneOnDryRun' }), aHook(hook, namespace)])
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  expect((await api.post(`${path}?dryRun=All`, configMap({ name: 'a' }))).status).toBe(201)
  expect(hook.calls.map(({ request }) => request.dryRun)).toEqual([true, true])
  expect(hook.calls[0]?.request.options).toMatchObject({ dryRun: ['All'] })
  expect((await api.get(`${path}/a`)).status).toBe(404)
})

test('each object of a deleted collection causes a call, which names no object', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const rules = [{ operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
  const { path } = await aHookedNamespace(api, 'validating', hook, { rules })
  for (const name of ['a', 'b']) await created(api, path, configMap({ name }))
  await api.delete(path)
  const names = hook.calls.map(({ request: { name, oldObject } }) => [name, oldObject?.metadata.name])
  expect(names.sort()).toEqual([
    [undefined, 'a'],
    [undefined, 'b'],
  ])
})

test('calls to one webhook share one connection', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const { path } = await aHookedNamespace(api, 'validating', hook)
  for (const name of ['a', 'b', 'c']) await created(api, path, configMap({ name }))
  expect(new Set(hook.calls.map(({ remotePort }) => remotePort)).size).toBe(1)
})

test('a call over a kept connection that the webhook has closed is repeated over a new connection', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const { path } = await aHookedNamespace(api, 'validating', hook)
  await created(api, path, configMap({ name: 'a' }))
  const [first] = hook.calls
  hook.reply = (called, response) => {
    if (called.remotePort === first?.remotePort) response.destroy()
    else allowing(called, response)
  }
  await created(api, path, configMap({ name: 'b' }))
  const ports = hook.calls.map(({ remotePort }) => remotePort)
  expect(ports).toEqual([first?.remotePort, first?.remotePort, expect.any(Number)])
  expect(ports[2]).not.toBe(ports[0])
})

test('a webhook whose own writes call it again does not recurse without end', async () => {
  const { api } = server
  const hook = await aWebhookServer(async (called, response) => {
    if (called.request.name === 'a') await api.post(path, configMap({ name: 'b' }))
    allowing(called, response)
  })
  const { path } = await aHookedNamespace(api, 'validating', hook)
  await created(api, path, configMap({ name: 'a' }))
  expect((await api.get(`${path}/b`)).status).toBe(200)
  expect(hook.calls).toHaveLength(2)
})

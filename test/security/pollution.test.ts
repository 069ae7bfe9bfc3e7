import { expect, test } from 'vitest'
import { aServer } from '../abuse/send.ts'

const base = '/api/v1/namespaces/default'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const evil = '{"polluted":"1","name":"__proto__"}'
const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']

/** The inherited members of every object, array, function and string. */
const inherited = () =>
  [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype].map((one) => Reflect.ownKeys(one).map(String))

test('META-18, VERB-07: no write changes the members that every object inherits', async () => {
  const before = inherited()
  const send = await aServer({ controllers: [] })
  const post = (path: string, body: string, type?: string) => send('POST', path, body, type)
  const patch = (path: string, body: string, type: string) => send('PATCH', path, body, `application/${type}`)
  await post(`${base}/configmaps`, '{"metadata":{"name":"a"},"data":{"x":"1"}}')
  const template = '{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}'
  await post(deployments, `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":${template}}}`)
  const codes: number[] = []
  const note = async (answer: ReturnType<typeof send>) => codes.push((await answer).code)
  for (const name of names) {
    const member = JSON.stringify(name)
    const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y, labels: {${name}: x}}\ndata: {${name}: x}\n${name}: ${evil}\n`
    await note(post(`${base}/configmaps?dryRun=All`, yaml, 'application/yaml'))
    await note(
      post(`${base}/configmaps?dryRun=All`, `{"metadata":{"name":"b",${member}:${evil}},${member}:${evil},"data":{${member}:"x"}}`),
    )
    await note(post(`${base}/secrets?dryRun=All`, `{"metadata":{"name":"b"},"stringData":{${member}:"x"},"data":{${member}:"eA=="}}`))
    await note(
      patch(`${base}/configmaps/a`, `{${member}:${evil},"metadata":{${member}:${evil}},"data":{${member}:null}}`, 'merge-patch+json'),
    )
    await note(patch(`${base}/configmaps/a`, `{"data":{${member}:"x","$patch":"replace"}}`, 'strategic-merge-patch+json'))
    for (const path of [`/${name}/polluted`, `/data/${name}/polluted`, `/metadata/${name}/prototype/polluted`, `/data/${name}`]) {
      for (const op of ['add', 'replace']) {
        await note(patch(`${base}/configmaps/a`, `[{"op":"${op}","path":"${path}","value":"1"}]`, 'json-patch+json'))
      }
      await note(patch(`${base}/configmaps/a`, `[{"op":"copy","from":"/data","path":"${path}"}]`, 'json-patch+json'))
      await note(patch(`${base}/configmaps/a`, `[{"op":"move","from":"${path}","path":"/data/z"}]`, 'json-patch+json'))
    }
    const containers = `[{"name":${member},"image":"i",${member}:${evil}}]`
    const spec = `"spec":{"template":{"spec":{"containers":${containers},"$setElementOrder/containers":[{"name":${member}},{"name":"c"}],"$retainKeys":[${member},"containers"]}},${member}:${evil}}`
    await note(patch(`${deployments}/d`, `{${spec}}`, 'strategic-merge-patch+json'))
    const remove = `{"metadata":{"$deleteFromPrimitiveList/finalizers":[${member}],"$deleteFromPrimitiveList/${name}":["polluted"]}}`
    await note(patch(`${deployments}/d`, remove, 'strategic-merge-patch+json'))
    const applied = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"s","labels":{${member}:"x"}},"data":{${member}:"x"},${member}:${evil}}`
    await note(patch(`${base}/configmaps/s?fieldManager=${name}&force=true`, applied, 'apply-patch+yaml'))
    const owners = `[{"manager":${member},"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:${name}":{"f:polluted":{}},"f:data":{"f:${name}":{}}}}]`
    await note(patch(`${base}/configmaps/a`, `{"metadata":{"managedFields":${owners}}}`, 'merge-patch+json'))
    await note(send('GET', `${base}/configmaps?labelSelector=${name}&fieldSelector=${name}=x&${name}=x`))
    await note(send('GET', `${base}/configmaps?labelSelector=${name}`))
    await note(send('GET', `/apis/${name}/v1/${name}`))
    await note(send('GET', `${base}/${name}/${name}/${name}`))
    await note(send('DELETE', `${base}/configmaps/none`, `{"${name}":${evil},"preconditions":{"${name}":"x"}}`))
    const review = `{"spec":{"user":${member},"groups":[${member}],"extra":{${member}:["x"]},"resourceAttributes":{"verb":${member},"resource":${member},"group":${member}}}}`
    await note(post('/apis/authorization.orch.io/v1/subjectaccessreviews', review))
    const rules = `[{"verbs":[${member}],"apiGroups":[${member}],"resources":[${member}],"resourceNames":[${member}]}]`
    await note(post('/apis/rbac.authorization.orch.io/v1/clusterroles', `{"metadata":{"name":"r"},"rules":${rules}}`))
    const quota = `{"metadata":{"name":"q"},"spec":{"hard":{${member}:"1","count/${name}.apps":"1"}}}`
    await note(post(`${base}/resourcequotas?dryRun=All`, quota))
  }
  expect(codes.filter((code) => code >= 500)).toEqual([])
  expect(codes.filter((code) => code < 300).length).toBeGreaterThan(20)
  expect(inherited()).toEqual(before)
  expect((await send('GET', '/readyz')).code).toBe(200)
})

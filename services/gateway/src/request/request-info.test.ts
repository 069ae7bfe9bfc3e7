import { describe, expect, test } from 'vitest'
import { parseQuery, parseRequestInfo, type RequestInfo } from './request-info.ts'

const at = (method: string, path: string, isWatch = false): RequestInfo => parseRequestInfo({ method, path, isWatch })

describe('the target of a path', () => {
  const rows: [title: string, path: string, expected: Partial<RequestInfo>][] = [
    ['ADDR-01: the core group is below /api', '/api/v1/pods', { group: '', version: 'v1', resource: 'pods', namespace: '', name: '' }],
    ['ADDR-02: named groups are below /apis', '/apis/apps/v1/deployments', { group: 'apps', version: 'v1', resource: 'deployments' }],
    ['ADDR-04: one object of a cluster-scoped type', '/api/v1/nodes/n1', { resource: 'nodes', name: 'n1', namespace: '' }],
    ['ADDR-06: a collection in a namespace', '/api/v1/namespaces/a/pods', { resource: 'pods', namespace: 'a', name: '' }],
    [
      'ADDR-07: one object in a namespace',
      '/apis/apps/v1/namespaces/a/deployments/d',
      { resource: 'deployments', namespace: 'a', name: 'd' },
    ],
    ['ADDR-08: a subresource', '/api/v1/namespaces/a/pods/p/status', { resource: 'pods', name: 'p', subresource: 'status' }],
    ['ADDR-10: the namespaces', '/api/v1/namespaces', { resource: 'namespaces', namespace: '', name: '' }],
    ['ADDR-11: a namespace is an object, and in itself', '/api/v1/namespaces/a', { resource: 'namespaces', namespace: 'a', name: 'a' }],
    ['ADDR-11: a part of a namespace', '/api/v1/namespaces/a/finalize', { resource: 'namespaces', name: 'a', subresource: 'finalize' }],
    ['ADDR-07: a slash at the end is forgiven', '/api/v1/namespaces/a/pods/p/', { resource: 'pods', name: 'p', subresource: '' }],
    ['WATCH-14: the old prefix', '/api/v1/watch/namespaces/a/pods', { verb: 'watch', resource: 'pods', namespace: 'a', name: '' }],
    ['ADDR-08: what follows a subresource', '/api/v1/namespaces/a/pods/p/proxy/x/y', { subresource: 'proxy', rest: ['x', 'y'] }],
  ]
  for (const [title, path, expected] of rows) {
    test(title, () => {
      expect(at('GET', path)).toMatchObject({ kind: 'resource', ...expected })
    })
  }

  test('ADDR-17: documents about the API are paths, not resources', () => {
    for (const path of ['/', '/api', '/apis', '/apis/apps', '/apis/apps/v1', '/api/v1', '/version', '/healthz', '/apix/v1/pods']) {
      expect(at('GET', path)).toEqual({ kind: 'path', verb: 'get', path })
    }
  })
})

describe('the meaning of a method', () => {
  const collection = '/api/v1/namespaces/a/pods'
  const rows: [title: string, method: string, path: string, isWatch: boolean, verb: string][] = [
    ['VERB-01: GET of one object gets', 'GET', `${collection}/p`, false, 'get'],
    ['VERB-02: GET of a collection lists', 'GET', collection, false, 'list'],
    ['VERB-03: GET of a collection with watch watches', 'GET', collection, true, 'watch'],
    ['VERB-04: GET of one object with watch gets it', 'GET', `${collection}/p`, true, 'get'],
    ['VERB-04: GET of one object below /watch watches it', 'GET', '/api/v1/watch/namespaces/a/pods/p', false, 'watch'],
    ['VERB-01: a subresource is got, not watched', 'GET', `${collection}/p/status`, true, 'get'],
    ['VERB-05: POST creates', 'POST', collection, false, 'create'],
    ['VERB-06: PUT updates', 'PUT', `${collection}/p`, false, 'update'],
    ['VERB-09: PATCH patches', 'PATCH', `${collection}/p`, false, 'patch'],
    ['VERB-11: DELETE of one object deletes', 'DELETE', `${collection}/p`, false, 'delete'],
    ['VERB-12: DELETE of a collection deletes the collection', 'DELETE', collection, false, 'deletecollection'],
    ['VERB-01: HEAD of one object gets', 'HEAD', `${collection}/p`, false, 'get'],
  ]
  for (const [title, method, path, isWatch, verb] of rows) {
    test(title, () => {
      expect(at(method, path, isWatch)).toMatchObject({ verb })
    })
  }
})

describe('the parameters of a query', () => {
  const rows: [text: string, parameters: Record<string, readonly string[]>][] = [
    ['a=1&b=2&a=3', { a: ['1', '3'], b: ['2'] }],
    ['a=%zz&b=%&c=%4&d=%41', { d: ['A'] }],
    ['%zz=1&a%3Bb=c%3bd', { 'a;b': ['c;d'] }],
    ['a=1;b=2&c=3', { c: ['3'] }],
    ['&&a&=b&c==', { a: [''], '': ['b'], c: ['='] }],
    ['?a=1', { '?a': ['1'] }],
    ['a;b&?c=1', { '?c': ['1'] }],
    ['a=1+2%2B', { a: ['1 2+'] }],
    [';', {}],
  ]
  test.each(rows)('QP-06: of %j are read as Go reads them', (text, parameters) => {
    const query = parseQuery(text)
    expect(Object.fromEntries([...new Set(query.names)].map((name) => [name, query.all(name)]))).toEqual(parameters)
  })
})

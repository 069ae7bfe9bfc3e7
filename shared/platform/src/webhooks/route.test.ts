import { describe, expect, test } from 'vitest'
import { redirectedPath, routeTo } from './route.ts'

describe('a webhook URL is normalized like in Go clients', () => {
  test.each([
    ['', '/'],
    ['/', '/'],
    ['//deny', '/deny'],
    ['/deny/', '/deny'],
    ['/a//b', '/a/b'],
    ['/a/./b/../c', '/a/c'],
    ['/../../a', '/a'],
    ['/a%20b', '/a%20b'],
    ['/a%2Fb', '/a/b'],
    ['/%ff', '/%FF'],
    ['/ä', '/%C3%A4'],
    ["/(it's)!*", '/%28it%27s%29%21%2A'],
    ['/a:b@c;d=e&f+g,h$i~j', '/a:b@c;d=e&f+g,h$i~j'],
  ])('the path %s of a URL becomes %s', (given, sent) => {
    const { path, url } = routeTo({ place: { kind: 'url', url: `https://hooks.example.com${given}` } }, 1_500)
    expect([path, url]).toEqual([`${sent}?timeout=2s`, `https://hooks.example.com${sent}?timeout=2s`])
  })

  test.each([
    ['/', '/'],
    ['/a//b/', '/a/b'],
    ['a', '/a'],
    ['/a%20b', '/a%2520b'],
    ['/a?b', '/a%3Fb'],
  ])('the path %s of a Service becomes %s', (given, sent) => {
    const { path } = routeTo({ place: { kind: 'service', namespace: 'n', name: 's', port: 443, path: given } }, 10_000)
    expect(path).toBe(`${sent}?timeout=10s`)
  })
})

describe('a redirect', () => {
  const from = { host: 'a.example.com:8443', path: '/x/y?timeout=10s' }

  test.each([
    ['/deny', '/deny'],
    ['z', '/x/z'],
    ['?a=b', '/x/y?a=b'],
    ['https://a.example.com:8443/deny/?x=y', '/deny/?x=y'],
    ['//A.example.com:8443/z', '/z'],
  ])('to %s stays on the host', (location, path) => expect(redirectedPath(location, from)).toBe(path))

  test.each([
    'https://b.example.com:8443/',
    'https://a.example.com/',
    'http://a.example.com:8443/',
    '//b.example.com/deny',
    'https://',
    'file:///etc/passwd',
  ])('to %s leaves the host', (location) => expect(redirectedPath(location, from)).toBeUndefined())

  test('to the default port stays on the host, with or without the port', () => {
    expect(redirectedPath('https://a.b.svc/z', { host: 'a.b.svc:443', path: '/' })).toBe('/z')
  })
})

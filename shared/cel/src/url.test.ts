import { describe, expect, test } from 'vitest'
import { checkRequestUri, readUrl } from './url.ts'

describe('CEL-15: a URL', () => {
  test.each([
    ['*', undefined],
    ['https://example.com/path ', undefined],
    ['https://[fe80::1%25en0]:443/', undefined],
    ['mailto:someone', undefined],
    ['', 'empty url'],
    ['example.com', 'invalid URI for request'],
    ['https://a b/', 'invalid character " " in host name'],
    ['https://example.com#a', 'invalid character "#" in host name'],
    ['https://example.com%2F', 'invalid URL escape "%2F"'],
    ['https://example.com:1:2', 'invalid port ":1:2" after host'],
    ['postgres://a:1,b:2', undefined],
    ['https://a[::1]', 'invalid IP-literal'],
    ['https://[1.2.3.4]', 'invalid IP-literal'],
    ['https://[::1', "missing ']' in host"],
    [
      'https://[fe80::zz%25en0]/',
      'invalid host: ParseAddr("fe80::zz%en0"): each colon-separated field must have at least one digit (at "zz")',
    ],
    ['https://a"b@example.com/', 'net/url: invalid userinfo'],
    ['https://[::1%25\u2028]/', undefined],
    ['https://[1.2.]/', 'invalid host: ParseAddr("1.2."): IPv4 field must have at least one digit (at ".")'],
    ['https://a%é', 'invalid URL escape "%é"'],
    ['https://a/%gé', 'invalid URL escape "%g\\xc3"'],
  ])('%j is accepted or refused as by url.ParseRequestURI', (text, why) => {
    expect(checkRequestUri(text)).toBe(why && `parse ${JSON.stringify(text)}: ${why}`)
  })

  test.each([
    [
      'https://u:p@a%E2%82%ac.example:8443/b?c#d%20e',
      { scheme: 'https', user: 'u:p', host: 'a€.example:8443', path: '/b', query: 'c', fragment: 'd e' },
    ],
    ['//host/path', { scheme: '', host: 'host', path: '/path', query: '', fragment: '' }],
    ['//a!:b:c@d', { scheme: '', user: 'a%21:b%3Ac', host: 'd', path: '', query: '', fragment: '' }],
    ['///path', { scheme: '', host: '', path: '///path', query: '', fragment: '' }],
    ['', { scheme: '', host: '', path: '', query: '', fragment: '' }],
    ['a:b', { scheme: 'a', host: '', path: '', query: '', fragment: '' }],
    ['1:b', 'parse "1:b": first path segment in URL cannot contain colon'],
    ['/a#%z', 'parse "/a#%z": invalid URL escape "%z"'],
    ['//%EF%BB%BFa', { scheme: '', host: '\ufeffa', path: '', query: '', fragment: '' }],
    ['\x01\x7f\u00a0', 'parse "\\x01\\x7f\\u00a0": net/url: invalid control character in URL'],
  ])('%j has the parts of url.Parse', (text, parts) => expect(readUrl(text)).toEqual(parts))
})

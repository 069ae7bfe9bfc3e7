import { comparesElements, constantCost, findsAll, joins, quotes, readsOnce, replaces, splits, transforms } from '../estimate/calls.ts'
import { type Functions, type Library, memberOverload, overload } from '../library.ts'
import { listOf, mapOf, types } from '../types.ts'
import { kubernetesTypes } from './types.ts'

const { bool, dyn, int, string } = types
const { url } = kubernetesTypes
const one = { estimate: constantCost(1n) }

/** Absolute URLs and absolute paths. */
export const urls: Library = {
  name: 'urls',
  since: 0,
  functions: {
    url: [overload('string_to_url', [string], url, { estimate: transforms })],
    isURL: [overload('is_url_string', [string], bool)],
    getScheme: [memberOverload('url_get_scheme', [url], string, one)],
    getHost: [memberOverload('url_get_host', [url], string, one)],
    getHostname: [memberOverload('url_get_hostname', [url], string, one)],
    getPort: [memberOverload('url_get_port', [url], string, one)],
    getEscapedPath: [memberOverload('url_get_escaped_path', [url], string, one)],
    getQuery: [memberOverload('url_get_query', [url], mapOf(string, listOf(string)), one)],
  },
}

/** Searches a text with a regular expression. */
export const regex: Library = {
  name: 'regex',
  since: 0,
  functions: {
    find: [memberOverload('string_find_string', [string, string], string, { estimate: findsAll })],
    findAll: [
      memberOverload('string_find_all_string', [string, string], listOf(string), { estimate: findsAll }),
      memberOverload('string_find_all_string_int', [string, string, int], listOf(string), { estimate: findsAll }),
    ],
  },
}

const firstStrings: Functions = {
  charAt: [memberOverload('string_char_at_int', [string, int], string)],
  indexOf: [
    memberOverload('string_index_of_string', [string, string], int, { estimate: comparesElements }),
    memberOverload('string_index_of_string_int', [string, string, int], int, { estimate: comparesElements }),
  ],
  lastIndexOf: [
    memberOverload('string_last_index_of_string', [string, string], int, { estimate: comparesElements }),
    memberOverload('string_last_index_of_string_int', [string, string, int], int, { estimate: comparesElements }),
  ],
  lowerAscii: [memberOverload('string_lower_ascii', [string], string, { estimate: transforms })],
  upperAscii: [memberOverload('string_upper_ascii', [string], string, { estimate: transforms })],
  replace: [
    memberOverload('string_replace_string_string', [string, string, string], string, { estimate: replaces }),
    memberOverload('string_replace_string_string_int', [string, string, string, int], string, { estimate: replaces }),
  ],
  split: [
    memberOverload('string_split_string', [string, string], listOf(string), { estimate: splits }),
    memberOverload('string_split_string_int', [string, string, int], listOf(string), { estimate: splits }),
  ],
  substring: [
    memberOverload('string_substring_int', [string, int], string, { estimate: transforms }),
    memberOverload('string_substring_int_int', [string, int, int], string, { estimate: transforms }),
  ],
  trim: [memberOverload('string_trim', [string], string, { estimate: transforms })],
  join: [
    memberOverload('list_join', [listOf(string)], string, { estimate: joins }),
    memberOverload('list_join_string', [listOf(string), string], string, { estimate: joins }),
  ],
}

/** Searches and changes of texts, before version 2 of this library. */
export const stringsBefore: Library = { name: 'strings', since: 0, until: 29, functions: firstStrings }

/** Searches and changes of texts, formats and quotes. */
export const strings: Library = {
  name: 'strings',
  since: 29,
  functions: {
    ...firstStrings,
    format: [memberOverload('string_format', [string, listOf(dyn)], string, { estimate: readsOnce() })],
    'strings.quote': [overload('strings_quote', [string], string, { estimate: quotes })],
  },
}

/** Keys of a JSON pointer. */
export const jsonPatch: Library = {
  name: 'jsonpatch',
  since: 0,
  functions: { 'jsonpatch.escapeKey': [overload('string_jsonpatch_escapeKey_string', [string], string, { estimate: transforms })] },
}

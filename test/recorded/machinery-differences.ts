/** Recorded cases that this server answers differently, with the reason and the allowed differences. */
export const otherwise: readonly { readonly reason: string; readonly allows: RegExp; readonly cases: readonly string[] }[] = [
  {
    reason: 'What a client does wrong is a 400 with a reason here, and a bare 500 there.',
    allows: /^(?:status 400 instead of 500|body\.(?:reason|code|details))/,
    cases: [
      'yaml: apply: no for a text',
      'times: apply of renewTime in milliseconds',
      'patchrv: merge patch, resourceVersion "abc"',
      'patchrv: strategic patch, resourceVersion "abc"',
      'patchrv: apply, resourceVersion "abc"',
      'patchrv: PUT, resourceVersion "abc"',
      'patchrv: apply of an absent object, resourceVersion "abc"',
      'patchrv: merge patch, resourceVersion "-1"',
      'patchrv: JSON patch, resourceVersion "-1"',
      'patchrv: apply, resourceVersion "-1"',
      'patchrv: custom: merge patch, resourceVersion "-1"',
      'patchrv: apply of an absent object, resourceVersion "-1"',
      'patchrv: merge patch, resourceVersion "0x10"',
      'patchrv: JSON patch, resourceVersion "0x10"',
      'patchrv: apply, resourceVersion "0x10"',
      'patchrv: custom: merge patch, resourceVersion "0x10"',
      'patchrv: apply of an absent object, resourceVersion "0x10"',
      'patchrv: PUT, resourceVersion "18446744073709551616"',
      'patchrv: custom: merge patch, resourceVersion "18446744073709551616"',
      'patchrv: PUT, resourceVersion "1.5"',
      'patchrv: custom: merge patch, resourceVersion "1.5"',
      'patchrv: PUT, resourceVersion " 1"',
      'patchrv: custom: merge patch, resourceVersion " 1"',
      'queries: get ?resourceVersion=abc',
      'queries: watch ?timeoutSeconds=1&resourceVersion=-1',
      'queries: watch ?timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=abc',
    ],
  },
  {
    reason: 'A node that is not reachable is an internal error with its reason here.',
    allows: /^body\.reason is there: "InternalError"/,
    cases: ['access: pod log without a kubelet', 'access: exec by GET without an upgrade', 'access: exec without a command'],
  },
]

/** The reason and the allowed differences of a case that this server answers differently; undefined for other cases. */
export function otherwiseOf(name: string): (typeof otherwise)[number] | undefined {
  return otherwise.find(({ cases }) => cases.includes(name))
}

/** `core/pods` for `core/pods/default/a`, and for any other prefix of keys; '' for ''. */
export function resourcePrefix(key: string): string {
  const end = key.indexOf('/', key.indexOf('/') + 1)
  return end < 0 ? key : key.slice(0, end)
}

/** Group and resource of keys, as metrics name them: the core group is ''. */
export function resourceLabels(key: string): { readonly group: string; readonly resource: string } {
  const [group = '', resource = ''] = key.split('/', 2)
  return { group: group === 'core' ? '' : group, resource }
}

/** A message about a failure; nothing for ''. */
export function Problem({ text }: { readonly text: string }) {
  if (text === '') return null
  return (
    <p role="alert" class="problem">
      {text}
    </p>
  )
}

"""What does a browser show at /graphql in development? GraphiQL, whose scripts come from a CDN, or a plain form without it."""

from __future__ import annotations

FORM = """
<form id="plain" hidden style="font: 14px sans-serif; padding: 1em; height: 100vh; box-sizing: border-box; overflow: auto">
  <p>GraphiQL loads its scripts from unpkg.com, and they did not arrive. This form asks all the same.</p>
  <p><label>Token <input name="token" type="password" size="60" autocomplete="off"></label></p>
  <p><label>Query<br><textarea name="query" rows="12" cols="100" spellcheck="false">
{ viewer { ... on Viewer { space numVisibleMessages person { displayName } } ... on Problem { code message } } }
</textarea></label></p>
  <p><label>Variables (JSON)<br><textarea name="variables" rows="4" cols="100" spellcheck="false">{}</textarea></label></p>
  <p><button>Ask</button></p>
  <pre></pre>
</form>
<script>
  if (typeof GraphiQL === "undefined" || typeof ReactDOM === "undefined") {
    const form = document.getElementById("plain");
    const shown = form.querySelector("pre");
    document.getElementById("graphiql").hidden = true;
    document.getElementById("graphiql").style.display = "none";
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const { token, query, variables } = form.elements;
      const headers = { "content-type": "application/json" };
      if (token.value) headers.authorization = `Bearer ${token.value}`;
      try {
        const body = JSON.stringify({ query: query.value, variables: JSON.parse(variables.value || "{}") });
        const answer = await fetch(location.pathname, { method: "POST", headers, body });
        shown.textContent = JSON.stringify(await answer.json(), null, 2);
      } catch (error) {
        shown.textContent = String(error);
      }
    });
  }
</script>
"""
"""The token is sent with each question and kept nowhere."""


def with_plain_form(page: str) -> str:
    """Strawberry's GraphiQL `page`, with a form that shows when GraphiQL's scripts did not arrive (no network)."""
    before, end, after = page.rpartition("</body>")
    return before + FORM + end + after

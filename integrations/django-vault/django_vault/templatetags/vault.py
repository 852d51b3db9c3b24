# SPDX-License-Identifier: Apache-2.0
"""{% load vault %}

<ul id="comments">{% live "comments" %}…{% endlive %}</ul>               shown anew when it has changed
<ul id="rows">{% live "rows" append=rows %}…{% endlive %}</ul>           rows of request.vault.feed(), appended
"""
from django import template

register = template.Library()


class LiveNode(template.Node):
    def __init__(self, nodelist, target, rows):
        self.nodelist = nodelist
        self.target = target
        self.rows = rows

    def render(self, context):
        html = self.nodelist.render(context)
        page = getattr(getattr(context, "request", None), "vault", None)
        if page is None:
            return html
        rows = self.rows.resolve(context) if self.rows else None
        return page.block(str(self.target.resolve(context)), html, rows)


@register.tag
def live(parser, token):
    """{% live TARGET [append=ROWS] %}…{% endlive %}: the content of the element whose id is TARGET."""
    name, *words = token.split_contents()
    nodelist = parser.parse(("endlive",))
    parser.delete_first_token()
    if not words or len(words) > 2 or len(words) == 2 and not words[1].startswith("append="):
        raise template.TemplateSyntaxError(f"{{% {name} %}} takes the id of an element, and append=ROWS or nothing more")
    rows = parser.compile_filter(words[1][len("append="):]) if len(words) == 2 else None
    return LiveNode(nodelist, parser.compile_filter(words[0]), rows)

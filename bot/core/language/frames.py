"""Openings of sentences by what they do, as patterns that end before the next word."""

import re

POLITE = r"(?:(?:please|kindly|just|quickly|maybe|possibly|also|now|again|perhaps|simply|then|finally|pretty|still) )*"
NEGATED = re.compile(
    r"(?:(?:no|nope|nah|oh|ah|wait) )*"
    + POLITE
    + r"(?:(?:do not|never ever|never|not|let us not|let us please not|(?:there is )?no (?:need"
        r"|reason) (?:to|for)|no more"
    r"|(?:you|we|i|one|nobody|no one|they|people|someone|somebody) (?:should|must|need|can|could|would"
        r"|may|might|better|had better|will|do|shall)"
    r" (?:not|never)(?: to| have to| need to| ever)?|nobody (?:should|must|may)|no one (?:should|must|may)"
    r"|(?:i|we) (?:do not|would not|did not|will not|can not) (?:want|need|like|think|believe"
        r"|have)(?: you| us| anyone)?(?: to)?"
    r"|better not|avoid|hold off(?: on)?|refrain from|(?:can|could|would|will) you (?:please )?not"
    r"|make sure (?:you |we |that you |that |to )?(?:do not|not to|not|never|nobody|no one)"
        r"|under no circumstances|dare)"
    r" )" + POLITE
)  # fmt: skip
FORGET = re.compile(r"(?:please )?(?:do not|never) forget to |remember to |(?:can you )?remind (?:me|us) to ")
REQUEST = re.compile(
    r"(?:(?:can|could|would|will|might) (?:you|we have(?= you))(?: guys| all)?(?: to| go)?"
    r"|(?:i|we) would (?:like|love|appreciate|prefer)(?: for)?(?: you)? to|(?:i|we) (?:want|need"
        r"|wish|would like)(?: for| that)? you(?: to)?|i (?:want|wish) to"
        r"|(?:i am|we are) (?:wanting|needing|looking) to"
    r"|i would (?:like|love) to|we would (?:like|love) to|let us|let me|go ahead(?: and)?|go and"
        r"|feel free to|be so (?:kind|good)(?: as)?(?: to| and)?"
    r"|be a dear and|do (?:me|us) a favou?r(?: and)?|help (?:me|us)(?: to)?|try to"
        r"|(?:is there )?any chance (?:that )?(?:you|we) (?:can|could|might)"
    r"|you please|i (?:am going to need|need|ask|beg) you to|it would be (?:nice|great|good|lovely"
        r"|awesome|cool) if you (?:could|can|would)"
    r"|would be (?:nice|great|good|lovely|awesome|cool) if you (?:could|can|would)"
        r"|i was wondering if you (?:could|can|would)|i wonder if you (?:could|can)"
    r"|i would be (?:grateful|happy|glad) if you (?:could|can|would)|we are ready to|ready to"
        r"|how about you|may i ask you to|can i ask you to|could i ask you to"
    r"|(?:can|could|may) (?:i|we) (?:please )?have you|i would like you to|please do|time for you to"
        r"|your job is to|you need to|you have to|be sure to|make sure to|make sure you"
    r"|when(?:ever)? you (?:can|have|get|find)(?: (?:a|some|the|another|free|spare))*(?: (?:moment"
        r"|minute|time|chance|sec|second|while))?|at your (?:earliest )?convenience"
    r"|if (?:it is |that is )?not too (?:much (?:trouble|work|to ask)|late)|if (?:you can|possible"
        r"|you could|you do not mind|you would|you have time|its ok|it is ok|that is ok)(?: please)?) "
)  # fmt: skip
GERUND_REQUEST = re.compile(r"(?:(?:would|do) you (?:please |kindly )?mind|mind|how about you(?: start)?) ")
WISH = re.compile(
    r"(?:(?:can|could|would|will) (?:someone|somebody|anyone|anybody|one of you|some one"
    r"|the bot)(?: here| please)?|you (?:can|may|might|should|could)(?: now| safely| just)?"
    r"|(?:we|i) (?:need|have|ought|must|got|have got|really need|really have|want|would want"
    r"|still need|still have)(?: to)?|we must|i must|it is time to|time to"
    r"|(?:is it|would it be) possible (?:for you )?to|(?:is it|it is) possible (?:that )?you"
    r"|someone (?:please )?|somebody (?:please )?"
    r"|anyone (?:please )?) "
)
MAYBE = re.compile(
    r"(?:what is the (?:point|use|sense|reason|purpose|idea|benefit|harm|risk)(?: (?:of|in|behind|for|with))*"
    r"|(?:can|could|may|should|shall|must|might|would|do|did|will|are|am) (?:i|we|they|he|she|it"
        r"|one)(?: (?:need|have|be|want|going|better|really|just|maybe|also|all|not))*(?: to)?(?: (?:able"
        r"|allowed))?(?: to)?"
    r"|what (?:happens |would happen |will happen |happened |does happen )?(?:if|when)|what about"
        r"|how about|why (?:do|did|would|should|not|are|does)(?: not)?(?: we| you| i| they| it)?(?: not)?"
    r"|maybe|perhaps|suppose|supposing|imagine|assuming|thinking (?:of|about)|considering|wondering"
        r"|(?:i|we) (?:am|are|was|were|might|may|could|should|would|think|guess|suppose|wonder|consider"
        r"|thought)"
    r"(?: (?:be|thinking|considering|wondering|of|about|we|i|you|maybe|if|also|should|could|might|that"
        r"|not|planning|tempted|probably|rather|just|still|to|whether|going))*"
    r"|would it (?:help|be \w+|make sense)(?: if)?(?: to| we| i)*|does it make sense to|is it (?:ok"
        r"|okay|safe|fine|better|worth|a good idea|wise|smart|possible|bad|cool|allowed|alright"
        r"|time)(?: if)?(?: to| we| i| you)*"
    r"|worth|in theory|hypothetically|theoretically|(?:it )?would be (?:nice|great|good|cool|better"
        r"|best|worth)(?: if)?(?: to| we)*|it might be \w+ to|let us (?:see|discuss|talk|think|consider"
        r"|decide|hope|say|assume|wait)"
    r"|(?:someone|somebody|they|he|she|people|you|everyone|everybody|the \w+) (?:should|could|might"
        r"|may|will|would|must)"
    r"|if (?:only )?(?:we|i|you|they|someone|it|he|she|that|this|the)|whether(?: or not)?(?: to| we)*"
        r"|should|could|shall|might|may|would|what do you think (?:of|about)|thoughts on"
        r"|any (?:objections?|reason)|who wants|who would) "
)  # fmt: skip
OWN_PLAN = re.compile(
    r"(?:i|we|he|she|they|someone|somebody)(?: (?:am|are|is|will|shall|just|already|about|going|to"
    r"|gonna|plan|plans|planning|intend|be|soon|then|also|now|still|shortly|probably|currently|has"
    r"|have|had|been|was|were|both|all|only))+ "
)
EMBEDDED = re.compile(
    r"(?:(?:please )?(?:tell|show|remind) (?:me|us)(?: please)? (?=if|whether|what|who|which|how|when"
    r"|why|where|does|is|are|whos)"
    r"|let (?:me|us) know |(?:do|does) (?:you|anyone|anybody|someone|somebody) (?:know|remember) "
    r"|any (?:idea|clue)s? |(?:i|we) (?:want|need|would like|would love) to (?:know|see|check"
    r"|understand|find out) "
    r"|(?:check|see|verify|confirm|find out|look up|know|double check)(?: please)? (?=if|whether|what"
    r"|who|which|how|when|why|where|that)|(?:please )?explain (?:to me )?(?=why|how|what)"
    r"|curious |(?:can|could) (?:you|someone) (?:tell|explain)(?: me| us)? (?:to me )?|(?:i"
    r"|we) (?:wonder|am wondering|was wondering) |question |quick question "
    r"|(?:do you )?(?:happen to )?know |(?:i )?have no idea )"
)
DESIRE = re.compile(
    r"(?:(?:i|we) (?:would (?:like|love|need|want)|want|need|require|could (?:really )?use|really need"
    r"|must have|am going to need|are going to need)(?: to (?:have|get|see|run|use))?"
    r"|(?:can|could|may|would) (?:i|we)(?: please| maybe| just| also| kindly)* (?:have|get)|need|want"
    r"|give me|get me|give us) "
)
